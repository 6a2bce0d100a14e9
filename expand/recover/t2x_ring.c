/* SPDX-License-Identifier: MIT */
/* t2x_ring.c - reads from a ring file within its bounds. */
#include "t2x_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_chain.h"
#include "t2x_ring_copy.h"

/* Read exactly bytes from offset at, which may be any number.  Return  0: the file does not have them */
static int read_at(const struct t2x_ring *ring, uint64_t at, void *to, size_t bytes)
{
	size_t got = 0;

	if (at > (uint64_t)INT64_MAX - bytes)
		return 0;
	while (got < bytes) {
		ssize_t n = pread(ring->fd, (char *)to + got, bytes - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	return 1;
}

/* ---- the head ----------------------------------------------------------------------------------- */

static void limit(uint32_t *count, uint32_t max)
{
	if (*count > max)
		*count = max;
}

/*
 * Return  which of two versions is valid, 0 or 1; -1: neither.  first, second  the numbers of their writes, 0: none;
 * written  the number of the last write that was completed
 */
static int which_holds(uint64_t first, uint64_t second, uint64_t written)
{
	if (first > written)
		first = 0;
	if (second > written)
		second = 0;
	return !first && !second ? -1 : second > first;
}

static const char *check_head(struct t2x_ring *ring)
{
	struct tlg_ring_file *head = &ring->head;
	int holds;

	if (!read_at(ring, 0, head, sizeof(*head)) || head->magic != TLG_RING_MAGIC)
		return "not a ring file";
	if (!tlg_ring_is_known(head))
		return "a ring file of another version";
	/* The tables are small, so no sum of an offset and a position in a table wraps now. */
	if (head->tables_at > INT64_MAX / 2 || head->rings_at > INT64_MAX / 2 || head->chunks_at > INT64_MAX / 2 ||
	    head->first_chunk_at > INT64_MAX / 2)
		return "a damaged ring file";
	head->boot[sizeof(head->boot) - 1] = head->sid[sizeof(head->sid) - 1] = '\0';
	limit(&head->rings_used, TLG_MAX_RINGS);
	limit(&head->chunks_used, TLG_MAX_CHUNKS);
	limit(&head->scopes_used, TLG_MAX_SCOPES - 1);
	limit(&head->sources_used, TLG_MAX_SOURCES - 1);
	limit(&head->texts_used, TLG_RING_TEXT_BYTES);
	limit(&head->losses_used, TLG_MAX_LOSSES);
	holds = which_holds(head->states[0].write, head->states[1].write, head->written);
	if (holds < 0)
		return "nothing was recorded in it";
	ring->state = head->states[holds];
	ring->state.path[sizeof(ring->state.path) - 1] = '\0';
	return NULL;
}

/* Note which file it is.  Return  NULL, or why it cannot be a ring file */
static const char *check_file(struct t2x_ring *ring)
{
	struct stat st;

	if (ring->fd < 0 || fstat(ring->fd, &st))
		return strerror(errno);
	ring->device = st.st_dev;
	ring->inode = st.st_ino;
	return S_ISREG(st.st_mode) ? NULL : "not a ring file";
}

const char *t2x_ring_open(struct t2x_ring *ring, const char *path, int live)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	return t2x_ring_adopt(ring, fd, path, live);
}

const char *t2x_ring_adopt(struct t2x_ring *ring, int fd, const char *path, int live)
{
	const char *why;

	*ring = (struct t2x_ring){ .path = path, .fd = fd, .is_live = live };
	why = check_file(ring);
	if (!why && live)
		why = t2x_ring_copy(&ring->fd);
	if (!why)
		why = check_head(ring);
	if (why)
		t2x_ring_close(ring);
	return why;
}

void t2x_ring_close(struct t2x_ring *ring)
{
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
}

/* ---- tables ------------------------------------------------------------------------------------- */

int t2x_ring_get(const struct t2x_ring *ring, unsigned i, struct tlg_ring *head, struct tlg_ring_tail *tail)
{
	int holds;

	if (i >= ring->head.rings_used ||
	    !read_at(ring, tlg_ring_at(ring->head.rings_at, i), head, sizeof(*head)))
		return 0;
	holds = which_holds(head->tails[0].write, head->tails[1].write, ring->head.written);
	head->name[sizeof(head->name) - 1] = '\0';
	memset(tail, 0, sizeof(*tail));
	if (holds < 0)
		return 1;
	*tail = head->tails[holds];
	tail->name[sizeof(tail->name) - 1] = '\0';
	limit(&tail->nabandoned, TLG_MAX_ABANDONED);
	return 1;
}

static int read_chunk(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk, size_t bytes)
{
	return i < ring->head.chunks_used && read_at(ring, tlg_chunk_at(&ring->head, i), chunk, bytes);
}

int t2x_ring_chunk_head(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk)
{
	return read_chunk(ring, i, chunk, T2X_CHUNK_HEAD);
}

int t2x_ring_chunk(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk)
{
	return read_chunk(ring, i, chunk, sizeof(*chunk));
}

int t2x_ring_is_in_file(const struct t2x_ring *ring, uint32_t index, struct tlg_chunk *chunk)
{
	struct tlg_ring_tail tail;
	struct tlg_ring head;

	if (!t2x_ring_get(ring, chunk->ring, &head, &tail) || tail.nabandoned || !tail.chunk ||
	    chunk->number != tail.chunk || chunk->next || t2x_ring_point(&head)->turn ||
	    !t2x_ring_chunk(ring, index, chunk) || chunk->number != tail.chunk)
		return 0;
	for (uint32_t i = tail.event; i < TLG_CHUNK_EVENTS; i++)
		if (tlg_is_committed(chunk, chunk->events[i].sequence))
			return 0;
	return 1;
}

static int read_text(const struct t2x_ring *ring, uint32_t at, char *to, size_t bytes)
{
	return at <= ring->head.texts_used && bytes <= ring->head.texts_used - at &&
	       read_at(ring, tlg_text_at(ring->head.tables_at, at), to, bytes);
}

int t2x_ring_scope(const struct t2x_ring *ring, uint32_t i, struct tlg_ring_scope *scope, char *text, size_t size)
{
	return i && i <= ring->head.scopes_used &&
	       read_at(ring, tlg_scope_at(ring->head.tables_at, i), scope, sizeof(*scope)) && scope->ready == 1 &&
	       scope->text_bytes <= size && read_text(ring, scope->text, text, scope->text_bytes);
}

size_t t2x_ring_source(const struct t2x_ring *ring, uint32_t i, char *text, size_t size)
{
	struct tlg_ring_source source;
	uint32_t end;

	if (!i || i > ring->head.sources_used ||
	    !read_at(ring, tlg_source_at(ring->head.tables_at, i), &source, sizeof(source)) ||
	    source.ready != 1 || source.text >= ring->head.texts_used)
		return 0;
	end = ring->head.texts_used;
	if (source.text < TLG_FIRST_TEXTS && end > TLG_FIRST_TEXTS)
		end = TLG_FIRST_TEXTS;   /* a text lies either on the second page or in the table */
	if (size > end - source.text)
		size = end - source.text;
	return read_text(ring, source.text, text, size) ? strnlen(text, size) : 0;
}

int t2x_ring_loss(const struct t2x_ring *ring, uint32_t i, struct tlg_loss *loss)
{
	struct tlg_ring_loss total;

	if (i < TLG_LOSS_REASONS) {
		*loss = (struct tlg_loss){ ring->head.losses[i], TLG_NO_THREAD, (uint16_t)i, 0 };
		return loss->count != 0;
	}
	if (i - TLG_LOSS_REASONS >= ring->head.losses_used ||
	    !read_at(ring, ring->head.tables_at + TLG_LOSSES_AT + (i - TLG_LOSS_REASONS) * sizeof(total), &total,
		     sizeof(total)))
		return -1;
	*loss = (struct tlg_loss){ total.count, total.tid, (uint16_t)total.reason, 0 };
	return total.is_set == 1 && total.count && total.reason && total.reason < TLG_LOSS_REASONS;
}

uint64_t t2x_ring_lost(const struct t2x_ring *ring, uint32_t tid, unsigned reason)
{
	struct tlg_loss loss;
	int is_there;

	for (uint32_t i = 0; (is_there = t2x_ring_loss(ring, i, &loss)) >= 0; i++)
		if (is_there && loss.tid == tid && loss.reason == reason)
			return loss.count;
	return 0;
}

int t2x_ring_remove(const struct t2x_ring *ring)
{
	struct stat st;

	if (lstat(ring->path, &st))
		return -errno;
	if (st.st_dev != ring->device || st.st_ino != ring->inode)
		return -ESTALE;
	return unlink(ring->path) ? -errno : 0;
}
