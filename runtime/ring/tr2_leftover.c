/* SPDX-License-Identifier: MIT */
/* tr2_leftover.c - finding them, and how it is known that nothing is left in one. */
#include "tr2_leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "tlg_chain.h"
#include "tlg_lease.h"
#include "tr2_shm.h"
#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"

enum {
	NAME_BYTES = 45,                  /* of trace2-PID-ID.ring, one more than of trace2-PID-ID.ctl */
	MAX_FILES = 64,
	MAX_READS = 16,                   /* of a directory, 4 KiB each */
	MAX_RINGS = 1024,                 /* of a file that is looked through; larger ones stay */
	MAX_CHUNKS = 8192,
	SCAN_EVENTS = 170,
};

/* What is looked at, by one thread at a time. */
TR2_LARGE static struct leftover {
	char names[MAX_FILES][NAME_BYTES + 1];
	struct tlg_ring_file head;
	struct tlg_ring_tail tails[MAX_RINGS];
	struct tlg_event events[SCAN_EVENTS];
} g_leftover;
static uint32_t g_is_busy;

static int read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return at <= INT64_MAX && tr2_sys_pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* ---- whether something is left ------------------------------------------------------------------ */

/* A checkpoint, a part of one, or a count of dropped ones: not an announcement, nor arguments that lead to nothing. */
static int is_content(const struct tlg_event *event, uint32_t number)
{
	uint64_t head = tr2_load_rlx((const uint64_t *)(const void *)event); /* relaxed: nobody writes to it */
	unsigned type = tlg_head_flags(head) & TLG_TYPE_MASK;

	return tlg_head_sequence(head) == number && tlg_begins_chain(type) && type != TLG_THREAD && type != TLG_PAD;
}

/* 1 if the chunk has something from this event on, or cannot be read. */
static int has_content(int fd, uint64_t chunk_at, uint32_t number, uint32_t event)
{
	struct tlg_event *events = g_leftover.events;

	while (event < TLG_CHUNK_EVENTS) {
		uint32_t n = TLG_CHUNK_EVENTS - event < SCAN_EVENTS ? TLG_CHUNK_EVENTS - event : SCAN_EVENTS;
		if (!read_at(fd, events, n * sizeof(*events),
			     chunk_at + offsetof(struct tlg_chunk, events) + event * sizeof(*events)))
			return 1;
		for (uint32_t i = 0; i < n; i++)
			if (is_content(&events[i], number))
				return 1;
		event += n;
	}
	return 0;
}

/* 1 if chunk i has what is not in the .tlg file, or may have. */
static int is_chunk_left(int fd, const struct tlg_ring_file *head, uint32_t i)
{
	const uint64_t at = tlg_chunk_at(head, i);
	const struct tlg_ring_tail *tail;
	struct tlg_chunk_head {
		unsigned char bytes[offsetof(struct tlg_chunk, events)];
	} raw;
	uint32_t number, state, ring, first;

	if (!read_at(fd, &raw, sizeof(raw), at))
		return 1;
	memcpy(&number, raw.bytes + offsetof(struct tlg_chunk, number), sizeof(number));
	memcpy(&state, raw.bytes + offsetof(struct tlg_chunk, state), sizeof(state));
	memcpy(&ring, raw.bytes + offsetof(struct tlg_chunk, ring), sizeof(ring));
	memcpy(&first, raw.bytes + offsetof(struct tlg_chunk, first), sizeof(first));
	if (state == TLG_CHUNK_UNUSED || state == TLG_CHUNK_FREE)
		return 0;
	if (state != TLG_CHUNK_OPEN || ring >= head->rings_used || first >= TLG_CHUNK_EVENTS)
		return 1;
	tail = &g_leftover.tails[ring];
	if (tail->chunk && (int32_t)(number - tail->chunk) < 0)
		return 0;
	return has_content(fd, at, number, tail->chunk == number ? tail->event : first);
}

/*
 * Read the ring's valid tail: all zeros if none was written.
 * Return  0: the ring has dropped events, or abandoned reservations
 */
static int read_tail(int fd, const struct tlg_ring_file *head, uint32_t i)
{
	struct tlg_ring_tail *tail = &g_leftover.tails[i];
	struct tlg_ring ring;

	if (!read_at(fd, &ring, sizeof(ring), tlg_ring_at(head->rings_at, i)) || ring.lost_events)
		return 0;
	memset(tail, 0, sizeof(*tail));
	for (unsigned k = 0; k < 2; k++)
		if (ring.tails[k].write <= head->written && ring.tails[k].write > tail->write)
			*tail = ring.tails[k];
	return !tail->nabandoned;
}

/* What is counted as dropped may not be in the .tlg file. */
static int has_losses(const struct tlg_ring_file *head)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < TLG_RING_REASONS; i++)
		sum |= head->losses[i];
	return sum || head->losses_used;
}

/* Nobody has the file mapped.  Return  0: something is in it, or it is not ours to judge */
static int is_empty(int fd, const struct stat *st)
{
	struct tlg_ring_file *head = &g_leftover.head;

	if (!st->st_size)
		return 1;   /* its process died before it could record */
	if (!read_at(fd, head, sizeof(*head), 0))
		return 0;
	if (!head->magic)
		return !head->layout && !head->rings_used;   /* as above */
	if (!tlg_ring_is_known(head))
		return 0;
	if (head->is_over)
		return 1;
	if (has_losses(head) || head->rings_used > MAX_RINGS || head->chunks_used > MAX_CHUNKS ||
	    head->chunks_at > INT64_MAX / 2 || head->first_chunk_at > INT64_MAX / 2 || head->rings_at > INT64_MAX / 2)
		return 0;
	for (uint32_t i = 0; i < head->rings_used; i++)
		if (!read_tail(fd, head, i))
			return 0;
	for (uint32_t i = 0; i < head->chunks_used; i++)
		if (is_chunk_left(fd, head, i))
			return 0;
	return 1;
}

/* ---- one file ------------------------------------------------------------------------------------- */

/*
 * If another process opens the file for writing meanwhile, the kernel sends us a signal, which is ignored unless the
 * program handles it.
 */
static int is_mapped(int fd)
{
	if (tr2_sys_fcntl(fd, F_SETSIG, SIGURG) || tr2_sys_fcntl(fd, F_SETLEASE, F_RDLCK))
		return 1;
	tr2_sys_fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

/* A control page, format/tlg_ctl.h: nothing in it is of use when its process is gone. */
static int is_page(const char *name)
{
	return strlen(name) == NAME_BYTES - 1 && !memcmp(name + 40, ".ctl", 4);
}

static void collect_file(const char *directory, const char *name)
{
	char path[256];
	struct tr2_text text = tr2_text_begin(path, sizeof(path));
	struct stat st;
	int fd;

	tr2_text_add(&text, directory);
	tr2_text_add(&text, "/");
	tr2_text_add(&text, name);
	fd = tr2_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (!tr2_sys_fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == tr2_sys_geteuid() && st.st_nlink == 1 &&
	    !is_mapped(fd) && (is_page(name) || is_empty(fd, &st)))
		tr2_sys_unlink(path);
	tr2_sys_close(fd);
}

/* ---- a directory ---------------------------------------------------------------------------------- */

/* begin: "trace2-", or what names begin with that are looked for */
static int is_leftover(const char *name, const char *begin)
{
	const int is_ring = strlen(name) == NAME_BYTES && !memcmp(name + 40, ".ring", 5);

	return (is_ring || is_page(name)) && !memcmp(name, begin, strlen(begin)) && name[23] == '-';
}

/* Note the name, the nth; beyond max it takes the place of another one, so that all have the same chance. */
static void note(const char *name, unsigned n, unsigned max)
{
	uint64_t random = tr2_clock_raw() * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	uint64_t place = n < max ? n : random % (n + 1);

	if (place < max)
		memcpy(g_leftover.names[place], name, strlen(name) + 1);
}

/* Return  how many files of that kind it has, among the entries that are looked at */
static unsigned list_files(int fd, const char *begin, unsigned max)
{
	_Alignas(struct dirent) char entries[4096];
	unsigned n = 0;
	ssize_t bytes = 1;

	for (int reads = 0; reads < MAX_READS && bytes > 0; reads++) {
		bytes = tr2_sys_getdents(fd, entries, sizeof(entries));
		for (ssize_t at = 0; at < bytes; ) {
			const struct dirent *entry = (const struct dirent *)(const void *)(entries + at);
			if (is_leftover(entry->d_name, begin))
				note(entry->d_name, n++, max);
			at += entry->d_reclen;
		}
	}
	return n;
}

static void collect_in(const char *directory, const char *begin, unsigned max)
{
	struct statfs system;
	unsigned n;
	int fd;

	if (!*directory || tr2_sys_statfs(directory, &system) || !tlg_lease_tells(&system))
		return;   /* where nobody can say whose process lives nothing is done */
	fd = tr2_sys_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = list_files(fd, begin, max);
	tr2_sys_close(fd);
	for (unsigned i = 0; i < n && i < max; i++)
		collect_file(directory, g_leftover.names[i]);
}

static void collect(const char *begin, unsigned files)
{
	int saved = errno;

	/* [M21] acquire: g_leftover, as the last one left it.  Pairs with the store below */
	if (!tr2_cas_acq_rel(&g_is_busy, 0, 1))
		return;   /* another one would find the same */
	if (files > MAX_FILES)
		files = MAX_FILES;
	for (unsigned i = 0; i < TR2_SHM_DIRECTORIES; i++)
		collect_in(tr2_shm_directory(i), begin, files);
	tr2_store_rel(&g_is_busy, 0); /* [M21] release: g_leftover.  Pairs with the exchange above */
	errno = saved;
}

int tr2_leftover_is_empty(int fd)
{
	struct stat st;
	int result;

	/* [M21] acquire: g_leftover, as the last one left it.  Pairs with the store below */
	if (tr2_sys_fstat(fd, &st) || !tr2_cas_acq_rel(&g_is_busy, 0, 1))
		return 0;
	result = is_empty(fd, &st);
	tr2_store_rel(&g_is_busy, 0); /* [M21] release: g_leftover.  Pairs with the exchange above */
	return result;
}

void tr2_leftover_collect(unsigned files)
{
	collect("trace2-", files);
}

void tr2_leftover_collect_own(void)
{
	char begin[NAME_BYTES];
	struct tr2_text text = tr2_text_begin(begin, sizeof(begin));

	tr2_text_add(&text, "trace2-");
	tr2_text_hex(&text, (uint64_t)tr2_sys_getpid(), 16);
	collect(begin, MAX_FILES);
}

void tr2_leftover_reset(void)
{
	tr2_store_rlx(&g_is_busy, 0); /* relaxed: nobody is there yet */
}
