/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring_copy.c - the order of copying makes the copy consistent.
 *
 * It copies chunks first.  It reads each chunk twice, and keeps an event of the second reading only if the first
 * reading found it committed: such an event was complete before the second reading began.
 *
 * It copies definitions next.  The process writes them before the events that need them, so no definition is missing.
 *
 * It copies head and rings last.  Their tails say which events are not in the .tlg file yet.  The chunks of these
 * events have not been released up to now, so their copies are complete.  The events of all other chunks are in the
 * .tlg file.
 */
#include "t2x_ring_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_chain.h"
#include "base/t2x_temporary.h"

enum {
	TRIES = 10000,                    /* to read head and rings while the process does not change them */
	MANY_CHUNKS = 512,                /* 32 MiB, if all of them are whole and in use */
};

struct copying {
	int from, to;
	struct tlg_ring_file head;
	union { struct tlg_chunk chunk; unsigned char bytes[TLG_CHUNK_BYTES]; } first, second;
};
static struct copying g_copying;          /* 130 KB are too much for a stack */

/* Return  bytes read: fewer at the end of the file */
static size_t read_some(int fd, void *to, size_t bytes, uint64_t at)
{
	size_t got = 0;
	ssize_t n;

	while (got < bytes && at + got <= INT64_MAX) {
		n = pread(fd, (char *)to + got, bytes - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

static int put(int fd, const void *from, size_t bytes, uint64_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < bytes) {
		n = pwrite(fd, (const char *)from + done, bytes - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

/* Copy a range of the file to the same offset.  Return  0: it cannot be written */
static int copy_range(struct copying *copying, uint64_t at, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes;) {
		uint64_t left = bytes - done;
		size_t n = left < TLG_CHUNK_BYTES ? (size_t)left : TLG_CHUNK_BYTES;
		n = read_some(copying->from, copying->first.bytes, n, at + done);
		if (!n)
			break;
		if (!put(copying->to, copying->first.bytes, n, at + done))
			return 0;
		done += n;
	}
	return 1;
}

/* Reads behind this fence see nothing older than reads in front of it. */
static void fence_acquire(void)
{
#ifndef __SANITIZE_THREAD__   /* ThreadSanitizer does not support fences */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Wipe events of the second reading that the first did not find committed.  Return  the end of those that remain */
static unsigned wipe_uncommitted(const struct tlg_chunk *first, struct tlg_chunk *second)
{
	unsigned end = first->first;

	for (unsigned i = first->first; i < TLG_CHUNK_EVENTS; i++) {
		if (tlg_is_committed(first, first->events[i].sequence))
			end = i + 1;
		else
			second->events[i].flags = 0, second->events[i].sequence = 0;
	}
	return end;
}

/* The .tlg file has all events of a chunk that is not in use.  So such a chunk is not copied. */
static int is_in_use(const struct tlg_chunk *chunk)
{
	return chunk->number && chunk->first < TLG_CHUNK_EVENTS &&
	       (chunk->state == TLG_CHUNK_OPEN || chunk->state == TLG_CHUNK_HELD || chunk->state == TLG_CHUNK_PINNED);
}

enum { HEAD_BYTES = offsetof(struct tlg_chunk, events) };

/* Read the head of a chunk, and its events from chunk->first on: the process has no memory for those before. */
static int read_chunk(struct copying *copying, struct tlg_chunk *chunk, uint64_t at)
{
	size_t events = TLG_CHUNK_BYTES - HEAD_BYTES, skip;

	if (read_some(copying->from, chunk, HEAD_BYTES, at) < HEAD_BYTES || !is_in_use(chunk))
		return 0;
	fence_acquire(); /* [M10] acquire: whose it is, and what it has.  Pairs with tr2_ring_open_chunk() */
	skip = chunk->first * sizeof(chunk->events[0]);
	return read_some(copying->from, &chunk->events[chunk->first], events - skip, at + HEAD_BYTES + skip) ==
	       events - skip;
}

static int copy_chunk(struct copying *copying, uint64_t at)
{
	const struct tlg_chunk *first = &copying->first.chunk;
	struct tlg_chunk *second = &copying->second.chunk;
	uint64_t at_number, skip;
	uint32_t number;
	unsigned end;

	if (!read_chunk(copying, &copying->first.chunk, at) || !read_chunk(copying, second, at))
		return 1;
	fence_acquire(); /* [M13] acquire: the events.  Pairs with tr2_ring_open_chunk() */
	at_number = at + offsetof(struct tlg_chunk, number);
	if (read_some(copying->from, &number, sizeof(number), at_number) < sizeof(number) || number != first->number ||
	    second->first != first->first)
		return 1;   /* between the readings it was overwritten, or written to the file and released */
	end = wipe_uncommitted(first, second);
	second->number = first->number;
	/* A chunk that was linked between the readings would follow events that the copy lacks. */
	second->next = first->next;
	skip = first->first * sizeof(first->events[0]);
	return put(copying->to, second, HEAD_BYTES, at) &&
	       put(copying->to, &second->events[first->first], (end - first->first) * sizeof(first->events[0]),
		   at + HEAD_BYTES + skip);
}

static int copy_chunks(struct copying *copying)
{
	const struct tlg_ring_file *head = &copying->head;
	uint32_t n = head->chunks_used < TLG_MAX_CHUNKS ? head->chunks_used : TLG_MAX_CHUNKS;

	for (uint32_t i = 0; i < n; i++)
		if (!copy_chunk(copying, tlg_chunk_at(head, i)))
			return 0;
	return 1;
}

static int copy_definitions(struct copying *copying)
{
	const struct tlg_ring_file *head = &copying->head;

	/* The tables only grow: what they have now covers all that the copied chunks refer to. */
	read_some(copying->from, &copying->head, sizeof(copying->head), 0);
	return copy_range(copying, TLG_RING_FIRST_AT, sizeof(struct tlg_ring_first)) &&
	       copy_range(copying, head->tables_at + TLG_SCOPES_AT,
			  (head->scopes_used + UINT64_C(1)) * sizeof(struct tlg_ring_scope)) &&
	       copy_range(copying, head->tables_at + TLG_SOURCES_AT,
			  (head->sources_used + UINT64_C(1)) * sizeof(struct tlg_ring_source)) &&
	       copy_range(copying, head->tables_at + TLG_TEXTS_AT, head->texts_used);
}

/*
 * The process overwrites a state, and the tails that belong to it, only after a later write was completed.  So the copy
 * is consistent if no write is completed during the copying: the caller compares *written with head.written.
 */
static int copy_state(struct copying *copying, uint64_t *written)
{
	struct tlg_ring_file *head = &copying->head;

	if (read_some(copying->from, head, sizeof(*head), 0) < sizeof(*head))
		return 0;
	*written = head->written;
	return copy_range(copying, tlg_ring_at(head->rings_at, 0), TLG_FIRST_RINGS * TLG_RING_STRIDE) &&
	       copy_range(copying, head->rings_at, (uint64_t)head->rings_used * TLG_RING_STRIDE) &&
	       copy_range(copying, head->tables_at + TLG_LOSSES_AT,
			  TLG_MAX_LOSSES * sizeof(struct tlg_ring_loss)) &&
	       put(copying->to, head, sizeof(*head), 0) &&
	       read_some(copying->from, head, sizeof(*head), 0) == sizeof(*head);
}

static int is_plausible(const struct tlg_ring_file *head)
{
	const uint64_t max = UINT64_C(1) << 40;

	return tlg_ring_is_known(head) && head->tables_at < max && head->rings_at < max && head->chunks_at < max &&
	       head->first_chunk_at < max && head->rings_used <= TLG_MAX_RINGS &&
	       head->scopes_used <= TLG_MAX_SCOPES &&
	       head->sources_used <= TLG_MAX_SOURCES && head->texts_used <= 2 * TLG_RING_TEXT_BYTES;
}

static const char *copy(struct copying *copying)
{
	uint64_t written = 0;

	if (read_some(copying->from, &copying->head, sizeof(copying->head), 0) < sizeof(copying->head) ||
	    !is_plausible(&copying->head))
		return "not a ring file, or one of another version";
	if (!copy_chunks(copying) || !copy_definitions(copying))
		return "no memory for a copy";
	for (int tries = 0; tries < TRIES; tries++) {
		if (!copy_state(copying, &written))
			return "no memory for a copy";
		if (copying->head.written == written)
			return NULL;
	}
	return "it changes faster than it can be read";
}

/* A large flight recorder has gigabytes, too much for our memory.  So the copy is a file without a name. */
static int open_copy(int from)
{
	struct tlg_ring_file head;
	int fd = -1;

	if (read_some(from, &head, sizeof(head), 0) == sizeof(head) && head.chunks_used > MANY_CHUNKS)
		fd = t2x_temporary_open();
	return fd >= 0 ? fd : memfd_create("t2expand", MFD_CLOEXEC);
}

const char *t2x_ring_copy(int *fd)
{
	struct stat st;
	const char *why;

	g_copying.from = *fd;
	g_copying.to = open_copy(*fd);
	if (g_copying.to < 0)
		return strerror(errno);
	/* The copy is as long as the ring file, but sparse: what is not copied takes no space. */
	why = fstat(*fd, &st) || ftruncate(g_copying.to, st.st_size) ? strerror(errno) : copy(&g_copying);
	if (why) {
		close(g_copying.to);
		return why;
	}
	close(*fd);
	*fd = g_copying.to;
	return NULL;
}

int t2x_ring_copy_stacks(int fd, struct tlg_ring_stacks *stacks)
{
	const uint64_t at = offsetof(struct tlg_ring_file, stacks);
	uint32_t question;

	if (read_some(fd, stacks, sizeof(*stacks), at) != sizeof(*stacks))
		return 0;
	question = stacks->question;
	fence_acquire(); /* [M17] acquire: who is asked.  Pairs with tr2_sample_asked_v1() */
	if (read_some(fd, stacks, sizeof(*stacks), at) != sizeof(*stacks))
		return 0;
	fence_acquire(); /* [M17] acquire: the samples.  Pairs with tr2_sample_answered_v1() */
	stacks->question = question;
	return 1;
}
