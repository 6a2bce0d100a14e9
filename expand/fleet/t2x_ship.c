/* SPDX-License-Identifier: MIT */
/* t2x_ship.c - see t2x_ship.h. */
#include "t2x_ship.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "t2x_shipped.h"
#include "t2x_stopped.h"

enum { SEARCH_MS = 500, STATUS_MS = 1000, WAIT_MS = 50, TROUBLE_MS = 10000, BURST = 64 };

struct ship {
	const struct t2x_ship_settings *what;
	struct t2x_shipped shipped;
	struct t2x_nats *nats;
	uint64_t now, searched, told, stated;
};

/* ---- messages and receipts ---------------------------------------------------------------------- */

/* Send what is due.  Return  1: some was sent */
static int send_due(struct ship *ship)
{
	struct t2x_outbox *outbox = &ship->shipped.outbox;
	struct t2x_outgoing *message;
	int n = 0;
	char id[96];

	if (!t2x_nats_is_connected(ship->nats))
		return 0;
	while (n < BURST && (message = t2x_outbox_due(outbox, ship->now))) {
		/* The servers drop copies by their ids: each try has its own, so that none is lost. */
		snprintf(id, sizeof(id), "%08" PRIx32 "-%" PRIu32 "-%" PRIu32 "-%ld-%u", message->head.stream,
			 message->head.first, message->head.last, (long)getpid(), message->tries);
		if (!t2x_nats_publish(ship->nats, ship->what->host, id, message->bytes, message->n))
			break;
		t2x_outbox_sent(outbox, message, ship->now);
		n++;
	}
	return n > 0;
}

/* Handle receipts; wait for the first one. */
static void take_receipts(struct ship *ship, int wait_ms)
{
	unsigned char bytes[2 * T2X_RECEIPT_BYTES];
	struct t2x_receipt receipt;
	size_t n;

	if (!t2x_nats_listen(ship->nats, ship->what->host)) {
		usleep((useconds_t)wait_ms * 1000);
		return;
	}
	for (int i = 0; i < 4 * BURST && (n = t2x_nats_next(ship->nats, i ? 0 : wait_ms, bytes, sizeof(bytes))); i++)
		if (t2x_receipt_read(&receipt, bytes, n))
			t2x_shipped_receipt(&ship->shipped, &receipt, ship->now);
}

/* ---- telling ------------------------------------------------------------------------------------ */

static void report_trouble(struct ship *ship)
{
	const char *away = t2x_nats_away(ship->nats, ship->now);
	char trouble[160];

	if (away)
		t2x_report_note(&ship->shipped.report, "NATS", "%s", away);
	if (ship->now - ship->told < TROUBLE_MS)
		return;
	t2x_nats_trouble(ship->nats, trouble, sizeof(trouble));
	if (!trouble[0])
		return;
	ship->told = ship->now;
	t2x_report_note(&ship->shipped.report, "NATS", "%s", trouble);
}

static void put_metric(FILE *file, const char *name, const char *type, uint64_t value)
{
	fprintf(file, "# TYPE t2_ship_%s %s\nt2_ship_%s %" PRIu64 "\n", name, type, name, value);
}

/* For node_exporter's textfile collector: whole, or not there. */
static void write_status(struct ship *ship)
{
	const struct t2x_shipped *shipped = &ship->shipped;
	const char *path = ship->what->status_file;
	char other[4096];
	FILE *file;

	if (!path || (ship->stated && ship->now - ship->stated < STATUS_MS))
		return;
	ship->stated = ship->now;
	if (snprintf(other, sizeof(other), "%s.tmp", path) >= (int)sizeof(other) || !(file = fopen(other, "we")))
		return;
	put_metric(file, "connected", "gauge", (uint64_t)t2x_nats_is_connected(ship->nats));
	put_metric(file, "waiting_bytes", "gauge", t2x_shipped_waiting(shipped));
	put_metric(file, "receipts_outstanding", "gauge", shipped->outbox.count);
	put_metric(file, "messages_receipted_total", "counter", shipped->outbox.receipted);
	put_metric(file, "messages_sent_again_total", "counter", shipped->outbox.again);
	put_metric(file, "dropped_blocks_total", "counter", shipped->dropped_blocks);
	put_metric(file, "dropped_events_total", "counter", shipped->dropped_events);
	put_metric(file, "dropped_bytes_total", "counter", shipped->dropped_bytes);
	if (!fclose(file))
		rename(other, path);
}

/* ---- the loop ----------------------------------------------------------------------------------- */

/* Return  NULL, or why it cannot go on */
static const char *step(struct ship *ship)
{
	const char *why = NULL;
	int is_busy;

	ship->now = t2x_stopped_clock();
	if (!ship->searched || ship->now - ship->searched >= SEARCH_MS) {
		ship->searched = ship->now;
		why = t2x_shipped_search(&ship->shipped);
		if (!why && ship->what->quota)
			t2x_shipped_drop(&ship->shipped, ship->what->quota);
		if (ship->what->deletes)
			t2x_shipped_delete(&ship->shipped);
	}
	is_busy = t2x_shipped_read(&ship->shipped);
	is_busy |= send_due(ship);
	take_receipts(ship, is_busy ? 1 : WAIT_MS);
	report_trouble(ship);
	write_status(ship);
	return ship->shipped.error ? strerror(-ship->shipped.error) : why;
}

const char *t2x_ship_run(const struct t2x_ship_settings *settings)
{
	struct ship ship = { .what = settings };
	const char *why = NULL;

	t2x_stopped_catch();
	ship.nats = t2x_nats_connect(&settings->nats, &why);
	if (!ship.nats)
		return why;
	if (t2x_shipped_init(&ship.shipped, settings->directory, settings->host))
		why = "no memory";
	ship.shipped.report.to = stderr;
	while (!why && !t2x_stopped()) {
		why = step(&ship);
		if (settings->is_once && t2x_shipped_is_done(&ship.shipped))
			break;
	}
	ship.stated = 0;
	write_status(&ship);
	t2x_shipped_free(&ship.shipped);
	t2x_nats_close(ship.nats);
	return why;
}
