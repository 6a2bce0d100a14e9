/* SPDX-License-Identifier: MIT */
/* tr2_map.c - see tr2_map.h. */
#include "tr2_map.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "settings/tr2_env.h"
#include "tr2_extent.h"

enum {
	PAGE = 4096,
	TABLES_AT = TR2_MAP_FIRST_CHUNK_AT + TLG_CHUNK_STRIDE + TLG_CHUNK_BYTES,
	OTHER_BYTES = TABLES_AT + TLG_TEXTS_AT + TLG_CHUNK_STRIDE,   /* all but texts, rings, chunks */
	MIN_BYTES = 4 << 20,              /* of addresses, even where the program has few */
	MIN_CHUNKS = 4,
	STEP_BYTES = 1 << 20,             /* of what is mapped when it is needed */
	PLACES = 16,
};

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000   /* Linux 4.17 */
#endif

/* Between places: room for the program's own mappings. */
#define DISTANCE ((uintptr_t)(sizeof(void *) < 8 ? 0 : UINT64_C(64) << 30))

#define MAX_ADDRESSES (sizeof(void *) < 8 ? (rlim_t)128 << 20 : RLIM_INFINITY)

static struct tr2_extent g_tables, g_chunks;   /* from the head to the last ring; the chunks, but for the first */

static rlim_t least(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* A chunk for each ring, and as many more as the pool's memory can fill. */
static struct tr2_map make_plan(rlim_t max)
{
	const rlim_t all = TLG_MAX_RINGS + tr2_g_settings.memory_bytes / TLG_CHUNK_BYTES;
	rlim_t rest = max > OTHER_BYTES ? max - OTHER_BYTES : 0;
	struct tr2_map plan = {
		.text_bytes = (uint32_t)least(TLG_RING_TEXT_BYTES, rest / 8 & ~(rlim_t)(PAGE - 1)),
		.tables_at = TABLES_AT,
	};

	rest = (rest - plan.text_bytes) / (TLG_CHUNK_STRIDE + TLG_RING_STRIDE);
	plan.chunks = (unsigned)least(rest, least(all, TLG_MAX_CHUNKS));
	plan.rings = (unsigned)least(plan.chunks, TLG_MAX_RINGS);
	plan.rings_at = TABLES_AT + TLG_TEXTS_AT + plan.text_bytes;
	plan.chunks_at = (plan.rings_at + (size_t)plan.rings * TLG_RING_STRIDE + PAGE - 1) & ~(size_t)(PAGE - 1);
	plan.bytes = plan.chunks_at + TLG_CHUNK_STRIDE + (size_t)plan.chunks * TLG_CHUNK_STRIDE;
	return plan;
}

/*
 * Addresses belong to the program.  Under RLIMIT_AS we take an eighth of them; of 32-bit addresses, 128 MiB at most.
 */
static rlim_t allowed_addresses(void)
{
	const rlim_t max = MAX_ADDRESSES;
	struct rlimit limit;

	if (tr2_sys_getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return max;
	return least(max, limit.rlim_cur / 8 > MIN_BYTES ? limit.rlim_cur / 8 : MIN_BYTES);
}

/* Chunks lie where their addresses are multiples of their stride. */
static size_t find_chunks(const unsigned char *base, size_t from)
{
	return from + (-((uintptr_t)base + from) & (TLG_CHUNK_STRIDE - 1));
}

/* Chunks lie in the upper halves of their strides: where bit 16 of the address is set. */
static size_t find_first_chunk(const unsigned char *base)
{
	const size_t from = TR2_MAP_FIRST_CHUNK_AT, half = TLG_CHUNK_BYTES;

	return from + ((half - ((uintptr_t)base + from)) & (TLG_CHUNK_STRIDE - 1));
}

/*
 * Place i for the mapping, or 0.  There the first chunk lies at TR2_MAP_FIRST_CHUNK_AT.  Place 0 is just below the
 * library's other memory, where the kernel puts the next mapping anyway.  The others have room to grow.
 */
static void *find_place(unsigned i, size_t bytes)
{
	const uintptr_t end = (uintptr_t)tr2_memory_begin(), away = i * DISTANCE + bytes;
	const uintptr_t below = end > away ? end - away : 0;
	const uintptr_t place = (below & ~(uintptr_t)(TLG_CHUNK_STRIDE - 1)) + TLG_CHUNK_BYTES - TR2_MAP_FIRST_CHUNK_AT;

	return (void *)(place <= below ? place : below ? place - TLG_CHUNK_STRIDE : 0);
}

/* What is accessible at the start: the tables, the first rings, the chunks that are used first. */
static void divide(unsigned char *base, const struct tr2_map *plan, int is_mapped)
{
	const size_t rings = (plan->rings_at + STEP_BYTES + PAGE - 1) & ~(size_t)(PAGE - 1);
	const size_t chunks = find_chunks(base, plan->chunks_at), all = plan->bytes & ~(size_t)(PAGE - 1);

	g_tables = (struct tr2_extent){
		.begin = base, .end = base + (rings < plan->chunks_at ? rings : plan->chunks_at),
		.limit = base + plan->chunks_at, .step = STEP_BYTES, .is_mapped = is_mapped,
	};
	g_chunks = (struct tr2_extent){
		.begin = base + chunks, .end = base + (chunks + STEP_BYTES < all ? chunks + STEP_BYTES : all),
		.limit = base + all, .step = STEP_BYTES, .is_mapped = is_mapped,
	};
}

/* Return  0: the place is taken, or there is no room.  A kernel before 4.17 may map elsewhere: that is undone */
static int map_extent(const struct tr2_extent *extent, int fd)
{
	const size_t bytes = tr2_extent_bytes(extent);
	void *memory = tr2_sys_map_at(extent->begin, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd,
				      extent->begin - g_tables.begin);

	if (memory && memory != extent->begin)
		tr2_sys_unmap(memory, bytes);
	return memory == extent->begin;
}

/* Both, so that they can grow.  The ring files of a forked child's parents are in the first places. */
static unsigned char *map_extents(int fd, const struct tr2_map *plan)
{
	for (unsigned i = 1; i <= PLACES && DISTANCE > 0; i++) {
		unsigned char *place = find_place(i, plan->bytes);
		if (!place)
			break;
		divide(place, plan, 0);
		if (map_extent(&g_tables, fd)) {
			if (map_extent(&g_chunks, fd))
				return place;
			tr2_sys_unmap(place, tr2_extent_bytes(&g_tables));
		}
	}
	return NULL;
}

static unsigned char *map_all(int fd, const struct tr2_map *plan)
{
	const int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	unsigned char *base = tr2_sys_map_at(find_place(0, plan->bytes), plan->bytes, PROT_NONE, flags, fd, 0);

	if (base)
		divide(base, plan, 1);
	return base;
}

/* On a disk the kernel would otherwise fill megabytes of read-ahead with zeros for the first page that is touched. */
static void advise(unsigned char *begin, size_t bytes, int is_on_disk)
{
	tr2_sys_advise(begin, bytes, MADV_DONTDUMP);
	if (is_on_disk)
		tr2_sys_advise(begin, bytes, MADV_RANDOM);
}

static int open_extent(const struct tr2_extent *extent, int is_on_disk)
{
	const size_t bytes = tr2_extent_bytes(extent);

	if (!extent->is_mapped)
		advise(extent->begin, bytes, is_on_disk);
	return tr2_sys_protect(extent->begin, bytes, PROT_READ | PROT_WRITE);
}

/*
 * Nothing is accessible when it is mapped: mlockall() would have the kernel fill it.  Anonymous memory is as long as
 * its mapping, so it does not grow.
 */
static unsigned char *map_plan(int fd, const struct tr2_map *plan, int is_on_disk)
{
	unsigned char *base = NULL;

	if (fd >= 0 && tr2_sys_ftruncate(fd, (off_t)plan->bytes))
		return NULL;
	if (fd >= 0)
		base = map_extents(fd, plan);
	if (!base)
		base = map_all(fd, plan);
	if (!base)
		return NULL;
	if (g_chunks.is_mapped)
		advise(base, plan->bytes, is_on_disk);
	if (open_extent(&g_tables, is_on_disk) || open_extent(&g_chunks, is_on_disk)) {
		tr2_map_destroy();
		return NULL;
	}
	return base;
}

struct tr2_map tr2_map_create(int fd, uint64_t max, int is_on_disk)
{
	const rlim_t addresses = allowed_addresses();
	struct tr2_map plan = make_plan(least(max, addresses));

	tr2_extent_forked();
	for (; plan.chunks >= MIN_CHUNKS; plan = make_plan(plan.bytes / 4)) {
		plan.base = map_plan(fd, &plan, is_on_disk);
		if (plan.base)
			break;
	}
	plan.is_reduced = plan.chunks < make_plan(MAX_ADDRESSES).chunks;
	if (plan.base) {
		plan.chunks_at = find_chunks(plan.base, plan.chunks_at);
		plan.first_chunk_at = find_first_chunk(plan.base);
	}
	return plan;
}

void tr2_map_destroy(void)
{
	if (g_chunks.is_mapped)
		g_tables.end = g_chunks.limit;
	tr2_sys_unmap(g_tables.begin, tr2_extent_bytes(&g_tables));
	if (!g_chunks.is_mapped)
		tr2_sys_unmap(g_chunks.begin, tr2_extent_bytes(&g_chunks));
}

int tr2_map_reach(const unsigned char *to)
{
	return tr2_extent_reach(to > g_chunks.begin ? &g_chunks : &g_tables, to);
}

struct tr2_map_parts tr2_map_parts(void)
{
	return (struct tr2_map_parts){
		.tables = tr2_extent_bytes(&g_tables), .chunks = tr2_extent_bytes(&g_chunks),
		.is_mapped = g_chunks.is_mapped,
	};
}
