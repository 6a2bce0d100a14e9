/* SPDX-License-Identifier: MIT */
/* still.c - see still.h. */
#include "still.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_ring.h"

/* ---- what is compared: all that a reader can come to, and not the holes of a sparse file ------------------- */

/* Copy a range, if it differs.  Return  1: it did */
static int copy_range(struct still *still, uint64_t at, uint64_t bytes)
{
	const size_t n = (size_t)bytes;   /* of the mapping */

	if (at > still->bytes || bytes > still->bytes - at || !memcmp(still->copy + at, still->ring + at, n))
		return 0;
	memcpy(still->copy + at, still->ring + at, n);
	return 1;
}

/* Copy a chunk, without the events in front of its first one, which are never written. */
static int copy_chunk(struct still *still, uint64_t at)
{
	const struct tlg_chunk *chunk = (const void *)(still->ring + at);
	size_t first = offsetof(struct tlg_chunk, events);

	if (chunk->first < TLG_CHUNK_EVENTS)
		first += chunk->first * sizeof(struct tlg_event);
	return copy_range(still, at, offsetof(struct tlg_chunk, events)) |
	       copy_range(still, at + first, TLG_CHUNK_BYTES - first);
}

/* Copy the entries of a table from first up to end. */
static int copy_table(struct still *still, uint64_t at, uint32_t first, uint32_t end, size_t size)
{
	return end > first && copy_range(still, at + first * (uint64_t)size, (end - first) * (uint64_t)size);
}

static int copy_ring(struct still *still)
{
	const struct tlg_ring_file *head = (const void *)still->ring;
	uint64_t tables = head->tables_at;
	uint32_t losses = head->losses_used < TLG_MAX_LOSSES ? head->losses_used : TLG_MAX_LOSSES;
	int changed = copy_range(still, 0, sizeof(*head));

	changed |= copy_range(still, TLG_RING_FIRST_AT, sizeof(struct tlg_ring_first));
	changed |= copy_table(still, head->rings_at, TLG_FIRST_RINGS, head->rings_used, TLG_RING_STRIDE);
	changed |= copy_table(still, tables + TLG_SCOPES_AT, TLG_FIRST_SCOPES, head->scopes_used + 1,
			      sizeof(struct tlg_ring_scope));
	changed |= copy_table(still, tables + TLG_SOURCES_AT, TLG_FIRST_SOURCES, head->sources_used + 1,
			      sizeof(struct tlg_ring_source));
	changed |= copy_table(still, tables + TLG_TEXTS_AT, TLG_FIRST_TEXTS, head->texts_used, 1);
	changed |= copy_table(still, tables + TLG_LOSSES_AT, 0, losses, sizeof(struct tlg_ring_loss));
	for (uint64_t i = 0; i < head->chunks_used; i++)
		changed |= copy_chunk(still, tlg_chunk_at(head, i));
	return changed;
}

/* ---- the files ------------------------------------------------------------------------------------- */

static void *map(int fd, size_t bytes, int protection)
{
	void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int still_open(struct still *still, const char *ring, const char *copy, const char *raw)
{
	struct stat st;
	int to = -1;

	*still = (struct still){ .raw = raw, .fd = open(ring, O_RDONLY | O_CLOEXEC) };
	if (still->fd >= 0 && !fstat(still->fd, &st))
		to = open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to >= 0 && !ftruncate(to, st.st_size)) {
		still->bytes = (size_t)st.st_size;
		still->ring = map(still->fd, still->bytes, PROT_READ);
		still->copy = map(to, still->bytes, PROT_READ | PROT_WRITE);
	}
	if (to >= 0)
		close(to);
	return still->ring && still->copy;
}

int still_update(struct still *still)
{
	struct stat ring, raw;
	off_t raw_bytes = stat(still->raw, &raw) ? -1 : raw.st_size;
	int changed = copy_ring(still) | !still->is_copied;

	if (fstat(still->fd, &ring))
		return 1;
	changed |= ring.st_nlink != still->links || raw_bytes != still->raw_bytes;
	still->links = ring.st_nlink;
	still->raw_bytes = raw_bytes;
	still->is_copied = 1;
	return changed;
}

int still_is_removed(const struct still *still)
{
	return !still->links;
}

unsigned still_chunks(const struct still *still)
{
	return ((const struct tlg_ring_file *)(const void *)still->ring)->chunks_used;
}

void still_close(struct still *still)
{
	if (still->ring)
		munmap((void *)(uintptr_t)still->ring, still->bytes);
	if (still->copy)
		munmap(still->copy, still->bytes);
	if (still->fd >= 0)
		close(still->fd);
}
