/* SPDX-License-Identifier: MIT */
/* tr2p_answer.c - see tr2p_answer.h. */
#include "tr2p_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/t2x_pprof.h"

enum { SLICE_MS = 100 };

int tr2p_answer_open(const char *path)
{
	enum { HIGH_FD = 100 };
	int low = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);

	if (low >= 0)
		close(low);
	return fd;
}

void tr2p_answer_put(struct tr2p_answer *answer, const char *text)
{
	t2x_bytes_put(&answer->body, text, strlen(text));
}

void tr2p_answer_fail(struct tr2p_answer *answer, unsigned status, const char *why)
{
	t2x_bytes_free(&answer->body);
	answer->body = (struct t2x_bytes){ .n = 0 };
	answer->status = status;
	answer->type = TR2P_ANSWER_TEXT;
	answer->name = NULL;
	tr2p_answer_put(answer, why);
	tr2p_answer_put(answer, "\n");
}

void tr2p_answer_fail_by(struct tr2p_answer *answer, int error)
{
	tr2p_answer_fail(answer, error == EALREADY ? 500 : 503,
			 error == EALREADY ? T2X_PPROF_IN_USE : strerrordesc_np(error));
}

/* ---- writing --------------------------------------------------------------------------------------- */

void tr2p_answer_send_more(struct tr2p_answer *answer, const void *bytes, size_t n)
{
	if (!answer->error && n)
		answer->error = answer->write(answer->context, answer->status, NULL, bytes, n);
}

static void send_header(struct tr2p_answer *answer, const char *name, const char *value)
{
	if (!answer->error && value)
		answer->error = answer->write(answer->context, answer->status, name, value, strlen(value));
}

void tr2p_answer_send(struct tr2p_answer *answer)
{
	char stored[96];

	if (answer->is_sent)
		return;
	if (answer->body.error)
		tr2p_answer_fail_by(answer, ENOMEM);
	answer->is_sent = 1;
	send_header(answer, "Content-Type", answer->type);
	send_header(answer, "X-Content-Type-Options", "nosniff");
	send_header(answer, "Cache-Control", "no-store");
	send_header(answer, T2X_PPROF_HEADER, answer->status >= 400 ? "1" : NULL);
	send_header(answer, "Location", answer->location);
	if (answer->name) {
		snprintf(stored, sizeof(stored), "attachment; filename=\"%s\"", answer->name);
		send_header(answer, "Content-Disposition", stored);
	}
	tr2p_answer_send_more(answer, answer->body.bytes, answer->body.n);
}

/* ---- waiting --------------------------------------------------------------------------------------- */

static void sleep_until(const struct timespec *end)
{
	/* ticks of a clock that was started may interrupt it */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, end, NULL) == EINTR)
		continue;
}

int tr2p_answer_wait(struct tr2p_answer *answer, uint32_t ms)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	while (ms) {
		const uint32_t slice = ms < SLICE_MS ? ms : SLICE_MS;

		end.tv_nsec += (long)slice * 1000000;
		if (end.tv_nsec >= 1000000000) {
			end.tv_nsec -= 1000000000;
			end.tv_sec++;
		}
		sleep_until(&end);
		ms -= slice;
		answer->error = answer->write(answer->context, 0, NULL, NULL, 0);
		if (answer->error)
			return 0;
	}
	return 1;
}
