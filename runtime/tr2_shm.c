/* SPDX-License-Identifier: MIT */
/* tr2_shm.c - creating, mapping and committing the shared memory file. */
#include "tr2_shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tr2_atomic.h"
#include "tr2_clock.h"
#include "tr2_text.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23    /* Linux 5.14 */
#endif

enum {
	PAGE = 4096,
	RINGS_AT = PAGE,
	SCOPES_AT = RINGS_AT + TLG_MAX_RINGS * TLG_RING_STRIDE,
	SOURCES_AT = SCOPES_AT + TLG_MAX_SCOPES * (int)sizeof(struct tlg_ring_scope),
	TEXTS_AT = SOURCES_AT + TLG_MAX_SOURCES * (int)sizeof(struct tlg_ring_source),
	LOSSES_AT = TEXTS_AT + TLG_RING_TEXT_BYTES,
	LOSSES_END = LOSSES_AT + TLG_MAX_LOSSES * (int)sizeof(struct tlg_ring_loss),
	CHUNKS_AT = (LOSSES_END + TLG_CHUNK_STRIDE - 1) / TLG_CHUNK_STRIDE * TLG_CHUNK_STRIDE,
};

struct tr2_shm tr2_g_shm;
static char g_path[256];
static unsigned char *g_base;             /* where the file is mapped */

const char *tr2_shm_path(void)
{
	return g_path;
}

/* A new file in directory, open; or -1.  O_EXCL and O_NOFOLLOW: nobody else's file is ever touched. */
static int open_in(const char *directory, uint32_t stream)
{
	struct tr2_text path = tr2_text_begin(g_path, sizeof(g_path));

	tr2_text_add(&path, directory);
	tr2_text_add(&path, "/trace2-");
	tr2_text_hex(&path, (uint64_t)getpid(), 16);
	tr2_text_add(&path, "-");
	tr2_text_hex(&path, tr2_clock_start() ^ stream, 16);
	tr2_text_add(&path, ".ring");
	return open(g_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int open_file(uint32_t stream)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int fd = -1;

	if (runtime && *runtime == '/' && strlen(runtime) < 128)
		fd = open_in(runtime, stream);
	if (fd < 0)
		fd = open_in("/dev/shm", stream);
	if (fd < 0) {
		g_path[0] = '\0';   /* no place that outlives us: record without it */
		fd = memfd_create("trace2", MFD_CLOEXEC);
	}
	return fd;
}

/*
 * As many chunks as RLIMIT_FSIZE lets a file hold: past it ftruncate() would raise SIGXFSZ.  Addresses of 32 bits are
 * the program's: of these no more than 128 MiB.
 */
static unsigned allowed_chunks(void)
{
	const unsigned most = sizeof(void *) < 8 ? TLG_MAX_CHUNKS / 4 : TLG_MAX_CHUNKS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return most;
	if (limit.rlim_cur < (rlim_t)CHUNKS_AT + TLG_CHUNK_STRIDE)
		return 0;
	limit.rlim_cur = (limit.rlim_cur - CHUNKS_AT) / TLG_CHUNK_STRIDE;
	return limit.rlim_cur < most ? (unsigned)limit.rlim_cur : most;
}

/* Map bytes of fd at an address that is a multiple of the chunk stride; NULL when there is no room. */
static unsigned char *map_aligned(int fd, size_t bytes)
{
	unsigned char *reserved = mmap(NULL, bytes + TLG_CHUNK_STRIDE, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t skip;

	if (reserved == MAP_FAILED)
		return NULL;
	skip = -(uintptr_t)reserved & (TLG_CHUNK_STRIDE - 1);
	if (skip)
		munmap(reserved, skip);
	munmap(reserved + skip + bytes, TLG_CHUNK_STRIDE - skip);
	if (mmap(reserved + skip, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		munmap(reserved + skip, bytes);
		return NULL;
	}
	return reserved + skip;
}

/* Map with as many chunks as the address space has room for. */
static unsigned char *map_file(int fd, unsigned *chunks, size_t *bytes)
{
	unsigned char *base = NULL;

	for (; *chunks >= 1 && !base; *chunks = base ? *chunks : *chunks / 4) {
		*bytes = CHUNKS_AT + (size_t)*chunks * TLG_CHUNK_STRIDE;
		if (!ftruncate(fd, (off_t)*bytes))
			base = map_aligned(fd, *bytes);
	}
	if (base)
		madvise(base, *bytes, MADV_DONTDUMP);
	return base;
}

static int commit_first_pages(unsigned char *base)
{
	static const int areas[] = { 0, RINGS_AT, SCOPES_AT, SOURCES_AT, TEXTS_AT };

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		int error = tr2_shm_commit(base + areas[i], PAGE);
		if (error)
			return error;
	}
	return 0;
}

static uint64_t time_since_boot(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void fill_head(unsigned char *base, size_t bytes)
{
	struct tlg_ring_file *head = (struct tlg_ring_file *)(void *)base;
	struct tr2_anchor first = tr2_clock_first();

	*head = (struct tlg_ring_file){
		.layout = TLG_RING_LAYOUT, .entry_size = TLG_EVENT_SIZE,
		.pid = (uint32_t)getpid(), .clock_type = tr2_clock_type(),
		.start = first.raw, .start_ns = first.ns, .created = time_since_boot(),
		.rings_at = RINGS_AT, .scopes_at = SCOPES_AT, .sources_at = SOURCES_AT, .texts_at = TEXTS_AT,
		.losses_at = LOSSES_AT, .chunks_at = CHUNKS_AT, .bytes = bytes,
		.texts_used = 1,
	};
	tr2_store_rel(&head->magic, TLG_RING_MAGIC); /* [M8] release: the rest of the head.  Pairs with its readers */
}

/* 1 if memory is committed without the file's name, so that nobody needs to write the file. */
static int can_populate(unsigned char *base)
{
	return !madvise(base, PAGE, MADV_POPULATE_WRITE);
}

int tr2_shm_create(uint32_t stream)
{
	unsigned chunks = allowed_chunks();
	unsigned char *base;
	size_t bytes;
	int error, fd;

	if (!chunks)
		return -EFBIG;
	fd = open_file(stream);
	if (fd < 0)
		return -errno;
	g_base = base = map_file(fd, &chunks, &bytes);
	error = base ? commit_first_pages(base) : -ENOMEM;
	if (base && can_populate(base))
		fchmod(fd, 0400);   /* who truncates it would kill us: nobody does by mistake, the superuser apart */
	close(fd);
	if (error) {
		if (base)
			munmap(base, bytes);
		tr2_shm_unlink();
		return error;
	}
	fill_head(base, bytes);
	tr2_g_shm = (struct tr2_shm){
		.head = (struct tlg_ring_file *)(void *)base,
		.rings = base + RINGS_AT,
		.chunks = base + CHUNKS_AT,
		.scopes = (struct tlg_ring_scope *)(void *)(base + SCOPES_AT),
		.sources = (struct tlg_ring_source *)(void *)(base + SOURCES_AT),
		.texts = (char *)base + TEXTS_AT,
		.losses = (struct tlg_ring_loss *)(void *)(base + LOSSES_AT),
		.max_chunks = chunks,
	};
	return 0;
}

void tr2_shm_unlink(void)
{
	if (g_path[0] && (!tr2_g_shm.head || tr2_g_shm.head->pid == (uint32_t)getpid()))
		unlink(g_path);
	g_path[0] = '\0';
}

void tr2_shm_forget(void)
{
	g_path[0] = '\0';
	tr2_g_shm = (struct tr2_shm){ .head = NULL };
}

/* Kernels before 5.14: allocate through the file's name, if it is still the file that is mapped. */
static int commit_by_name(const unsigned char *address, size_t bytes)
{
	const unsigned char *base = g_base;
	int fd = base ? open(g_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
	int error;

	if (fd < 0)
		return -ENOSPC;
	error = posix_fallocate(fd, address - base, (off_t)bytes);
	close(fd);
	return -error;
}

int tr2_shm_commit(void *address, size_t bytes)
{
	uintptr_t first = (uintptr_t)address & ~(uintptr_t)(PAGE - 1);
	size_t length = ((uintptr_t)address + bytes - first + PAGE - 1) & ~(size_t)(PAGE - 1);
	int saved = errno, error = 0;

	if (madvise((void *)first, length, MADV_POPULATE_WRITE))
		error = errno == EINVAL ? commit_by_name((void *)first, length) : -ENOSPC;
	errno = saved;
	return error;
}
