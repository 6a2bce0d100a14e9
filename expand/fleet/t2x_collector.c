/* SPDX-License-Identifier: MIT */
/* t2x_collector.c - see t2x_collector.h. */
#include "t2x_collector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t2x_parcel.h"
#include "t2x_stopped.h"
#include "t2x_store.h"
#include "base/t2x_report.h"

enum {
	FETCH_MS = 500, EARLY_MS = 200, FULL_MS = 2000, PREPARE_MS = 1000, STATUS_MS = 1000, NOTE_MS = 10000,
	SILENT_MS = 5000,                 /* without a message: is the JetStream still there? */
	EARLY_TRIES = 3,                  /* then the host is told; it sends again what is missing, and this, too */
	EARLY_MAX = 20,
};

/* A message of a batch, and what becomes of it. */
struct item {
	struct t2x_nats_message message;
	struct t2x_envelope head;
	enum t2x_stored stored;
	const char *why;                  /* it is none */
	uint32_t until;
};

struct collector {
	const struct t2x_collector_settings *what;
	struct t2x_report report;
	struct t2x_nats *nats;
	struct t2x_store *store;
	unsigned char *plain;
	struct item items[T2X_NATS_BATCH];
	uint64_t prepared, silent, stated, noted;
	int is_ready;
	uint64_t stored, again, early, refused, failed, gaps, bytes;
};

/* ---- a batch ------------------------------------------------------------------------------------ */

static void open_and_put(struct collector *collector, struct item *item)
{
	const char *host = t2x_nats_host(item->message.subject);

	item->why = t2x_parcel_open(&item->head, item->message.bytes, item->message.n, collector->plain);
	/* The servers let a host publish under its own name only: so the subject says who sent it. */
	if (!item->why && (!host || strcmp(host, item->head.host) != 0))
		item->why = "of another host than its subject says";
	if (!item->why)
		item->stored = t2x_store_put(collector->store, &item->head, item->message.bytes, collector->plain,
					     &item->until);
}

/* Also another collector may have the message in front of an early one: so it is tried once more at the end. */
static void put_all(struct collector *collector, int n)
{
	for (int i = 0; i < n; i++)
		open_and_put(collector, &collector->items[i]);
	for (int i = 0; i < n; i++)
		if (!collector->items[i].why && collector->items[i].stored == T2X_STORED_EARLY)
			open_and_put(collector, &collector->items[i]);
}

static void send_receipt(struct collector *collector, const struct item *item, int is_missing)
{
	const struct t2x_receipt receipt = {
		.stream = item->head.stream, .ring = item->head.ring, .pid = item->head.pid, .until = item->until,
		.is_missing = is_missing,
	};
	unsigned char bytes[T2X_RECEIPT_BYTES];

	t2x_receipt_write(&receipt, bytes);
	t2x_nats_receipt(collector->nats, item->head.host, bytes, sizeof(bytes));
}

/* The error is printed now and then, however many messages it concerns. */
static void note(struct collector *collector, const char *what, const char *why)
{
	uint64_t now = t2x_stopped_clock();

	if (collector->noted && now - collector->noted < NOTE_MS)
		return;
	collector->noted = now;
	t2x_report_note(&collector->report, what, "%s", why);
}

/* After the sync: is_synced says if it succeeded. */
static void finish(struct collector *collector, struct item *item, int is_synced)
{
	enum t2x_nats_fate fate = T2X_NATS_ACK;
	int later_ms = FULL_MS;

	if (item->why) {
		collector->refused++;
		note(collector, item->message.subject, item->why);
		fate = T2X_NATS_TERM;
	} else if (item->stored == T2X_STORED_FAILED || !is_synced) {
		collector->failed++;
		note(collector, collector->what->store, strerror(-t2x_store_error(collector->store)));
		fate = T2X_NATS_LATER;
	} else if (item->stored == T2X_STORED_EARLY) {
		collector->early++;
		if (item->message.deliveries >= EARLY_TRIES)
			send_receipt(collector, item, 1);
		fate = item->message.deliveries >= EARLY_MAX ? T2X_NATS_TERM : T2X_NATS_LATER;
		later_ms = EARLY_MS;
	} else {
		collector->stored += item->stored == T2X_STORED_NEW;
		collector->again += item->stored == T2X_STORED_BEFORE;
		collector->gaps += item->head.reason != T2X_GAP_NONE && item->stored == T2X_STORED_NEW;
		collector->bytes += item->stored == T2X_STORED_NEW ? item->message.n : 0;
		send_receipt(collector, item, 0);
	}
	t2x_nats_finish(&item->message, fate, later_ms);
}

/* Return  messages; -1: the JetStream may be gone */
static int collect(struct collector *collector)
{
	struct t2x_nats_message messages[T2X_NATS_BATCH];
	int n = t2x_nats_fetch(collector->nats, messages, FETCH_MS), is_synced;

	if (n <= 0)
		return n;
	for (int i = 0; i < n; i++)
		collector->items[i] = (struct item){ .message = messages[i] };
	put_all(collector, n);
	is_synced = !t2x_store_sync(collector->store);
	for (int i = 0; i < n; i++)
		finish(collector, &collector->items[i], is_synced);
	t2x_nats_flush(collector->nats);
	return n;
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static void put_metric(FILE *file, const char *name, const char *type, uint64_t value)
{
	fprintf(file, "# TYPE t2_collect_%s %s\nt2_collect_%s %" PRIu64 "\n", name, type, name, value);
}

static void write_status(struct collector *collector, uint64_t now)
{
	const char *path = collector->what->status_file;
	char other[4096];
	FILE *file;

	if (!path || (collector->stated && now - collector->stated < STATUS_MS))
		return;
	collector->stated = now;
	if (snprintf(other, sizeof(other), "%s.tmp", path) >= (int)sizeof(other) || !(file = fopen(other, "we")))
		return;
	put_metric(file, "ready", "gauge", (uint64_t)collector->is_ready);
	put_metric(file, "messages_stored_total", "counter", collector->stored);
	put_metric(file, "bytes_stored_total", "counter", collector->bytes);
	put_metric(file, "messages_stored_before_total", "counter", collector->again);
	put_metric(file, "messages_early_total", "counter", collector->early);
	put_metric(file, "messages_refused_total", "counter", collector->refused);
	put_metric(file, "messages_failed_total", "counter", collector->failed);
	put_metric(file, "gaps_total", "counter", collector->gaps);
	if (!fclose(file))
		rename(other, path);
}

/* Make what is needed in the cluster, which may have lost all it had. */
static void prepare(struct collector *collector, uint64_t now)
{
	const char *why = t2x_nats_away(collector->nats, now);

	if (why)
		t2x_report_note(&collector->report, "NATS", "%s", why);
	if (!t2x_nats_is_connected(collector->nats) ||
	    (collector->prepared && now - collector->prepared < PREPARE_MS)) {
		usleep(20000);
		return;
	}
	collector->prepared = now;
	why = t2x_nats_prepare(collector->nats, collector->what->replicas, collector->what->max_bytes);
	collector->is_ready = !why;
	collector->silent = now;
	if (why)
		note(collector, "NATS", why);
}

static void step(struct collector *collector)
{
	uint64_t now = t2x_stopped_clock();
	int n;

	write_status(collector, now);
	if (!collector->is_ready) {
		prepare(collector, now);
		return;
	}
	n = collect(collector);
	if (n > 0)
		collector->silent = t2x_stopped_clock();
	else if (n < 0 || t2x_stopped_clock() - collector->silent > SILENT_MS)
		collector->is_ready = 0;
}

const char *t2x_collector_run(const struct t2x_collector_settings *settings)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	const char *why = collector ? NULL : "no memory";

	t2x_stopped_catch();
	if (!why) {
		collector->what = settings;
		collector->report.to = stderr;
		collector->plain = malloc(TLG_FRAME_BYTES);
		collector->store = t2x_store_open(settings->store, &why);
	}
	if (!why)
		collector->nats = t2x_nats_connect(&settings->nats, &why);
	while (!why && !t2x_stopped())
		step(collector);
	if (collector) {
		t2x_nats_close(collector->nats);
		t2x_store_free(collector->store);
		free(collector->plain);
	}
	free(collector);
	return why;
}
