/* SPDX-License-Identifier: MIT */
/*
 * t2x_store.h - where a collector puts what hosts have sent: a .tlg file for each process.
 *
 *     STORE/HOST/2026-11-27/PID-STREAM.tlg     the blocks of a stream, by the day on which the process began (UTC)
 *     STORE/HOST/2026-11-27/PID-STREAM.gaps    what of it will never come, a line for each gap
 *
 * Each block is in its file once, in the order of numbers, however often and by whom it is sent.  What is stored so far
 * is one number, that of the last block, and it is in the files: there is no other state, so nothing can contradict
 * them.  A message whose previous block is not stored yet has to wait.  Several collectors may use a store at the same
 * time: a lock of the host (flock) is held while one of them appends.
 *
 * A file is opened as what a power cut may have left: it is read, and truncated behind the last frame that is whole.
 * Nothing is receipted before t2x_store_sync() has returned 0: then all is on the disk, names of new files included.
 * If a sync fails, what it did not confirm is removed again, for the kernel reports an error once and then forgets it.
 *
 * Whoever removes files of a store, as too old, loses what is in them and nothing else.  If the process still runs, a
 * new file begins, for which the host is asked to send again what it still has.
 */
#ifndef T2X_STORE_H
#define T2X_STORE_H

#include "t2x_envelope.h"

enum { T2X_STORE_OPEN = 256 };            /* files that are open at a time */

struct t2x_store;

enum t2x_stored {
	T2X_STORED_NEW,                   /* appended */
	T2X_STORED_BEFORE,                /* all of it was there */
	T2X_STORED_EARLY,                 /* blocks in front of it are missing: nothing was stored */
	T2X_STORED_FAILED,                /* t2x_store_error() says why: nothing was stored */
};

/* Return  NULL: *why says why */
struct t2x_store *t2x_store_open(const char *path, const char **why);
void t2x_store_free(struct t2x_store *store);

/*
 * Store a message that t2x_parcel_open() has accepted.
 * message  all of it; plain  the blocks, unpacked
 * *until   the last block that is stored, synced or not
 */
enum t2x_stored t2x_store_put(struct t2x_store *store, const struct t2x_envelope *head, const unsigned char *message,
			      const unsigned char *plain, uint32_t *until);

/* Sync all that was put, or found to be there, since the last time.  Return  0 or -errno: nothing may be receipted */
int t2x_store_sync(struct t2x_store *store);

/* errno of the latest failure. */
int t2x_store_error(const struct t2x_store *store);

#endif
