/* SPDX-License-Identifier: MIT */
/*
 * t2x_collector.h - `t2 collect': stores what hosts send, and says so when it is on the disk.
 *
 * In this order: write, fsync, receipt, acknowledgement.  Who is killed between two of them leaves messages that are
 * delivered again, to this collector or to another one, and are found to be stored already.  A message that comes
 * before one that it needs is delivered again a little later.  One that is no message of its host is thrown away, and
 * counted.
 */
#ifndef T2X_COLLECTOR_H
#define T2X_COLLECTOR_H

#include "t2x_nats.h"

struct t2x_collector_settings {
	struct t2x_nats_settings nats;
	const char *store;
	const char *status_file;          /* for Prometheus; NULL: none */
	int replicas;                     /* of the JetStream, when it is made */
	int64_t max_bytes;                /* likewise; -1: no limit */
};

/* Until SIGTERM or SIGINT.  Return  NULL, or why it could not begin */
const char *t2x_collector_run(const struct t2x_collector_settings *settings);

#endif
