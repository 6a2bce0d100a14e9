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
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "tr2_atomic.h"
#include "tr2_clock.h"
#include "tr2_fd.h"
#include "tr2_text.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23    /* Linux 5.14 */
#endif

enum {
	PAGE = 4096,
	LEAST_CHUNKS_AT = TLG_RING_FIRST_AT + PAGE,
	OTHER_BYTES = LEAST_CHUNKS_AT + TLG_CHUNK_STRIDE + TLG_TABLES_BYTES,   /* than chunks */
};

struct tr2_shm tr2_g_shm;
static char g_path[256];
static unsigned char *g_base;             /* where the file is mapped */
static struct tr2_fd_identity g_file;

const char *tr2_shm_path(void)
{
	return g_path;
}

/*
 * A new file in directory, open; or -1.  O_EXCL and O_NOFOLLOW: nobody else's file is ever touched.  Who truncates it
 * would kill us: nobody may write it, so nobody does by mistake, the superuser apart.
 */
static int open_in(const char *directory, uint32_t stream)
{
	struct tr2_text path = tr2_text_begin(g_path, sizeof(g_path));

	tr2_text_add(&path, directory);
	tr2_text_add(&path, "/trace2-");
	tr2_text_hex(&path, (uint64_t)getpid(), 16);
	tr2_text_add(&path, "-");
	tr2_text_hex(&path, tr2_clock_start() ^ stream, 16);
	tr2_text_add(&path, ".ring");
	return open(g_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
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

static rlim_t get_limit(unsigned resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/*
 * As many chunks as RLIMIT_FSIZE lets a file hold: past it ftruncate() would raise SIGXFSZ.  Addresses are the
 * program's: where RLIMIT_AS makes them few, we take a quarter of them at most, and of those of 32 bits no more than
 * 128 MiB.
 */
static unsigned allowed_chunks(void)
{
	const rlim_t most = sizeof(void *) < 8 ? TLG_MAX_CHUNKS / 4 : TLG_MAX_CHUNKS;
	const rlim_t file = get_limit(RLIMIT_FSIZE), addresses = get_limit(RLIMIT_AS);
	rlim_t bytes = addresses == RLIM_INFINITY ? RLIM_INFINITY : addresses / 4, chunks;

	if (bytes > file)
		bytes = file;
	if (bytes == RLIM_INFINITY)
		return (unsigned)most;
	chunks = bytes < (rlim_t)OTHER_BYTES ? 0 : (bytes - OTHER_BYTES) / TLG_CHUNK_STRIDE;
	return (unsigned)(chunks < most ? chunks : most);
}

/* Map with as many chunks as the address space has room for. */
static unsigned char *map_file(int fd, unsigned *chunks, size_t *bytes)
{
	void *base = MAP_FAILED;

	for (; *chunks >= 1 && base == MAP_FAILED; *chunks = base == MAP_FAILED ? *chunks / 4 : *chunks) {
		*bytes = OTHER_BYTES + (size_t)*chunks * TLG_CHUNK_STRIDE;
		if (!ftruncate(fd, (off_t)*bytes))
			base = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (base == MAP_FAILED)
		return NULL;
	madvise(base, *bytes, MADV_DONTDUMP);
	return base;
}

/* Chunks lie where their addresses are multiples of their stride. */
static size_t find_chunks(const unsigned char *base)
{
	return LEAST_CHUNKS_AT + (-((uintptr_t)base + LEAST_CHUNKS_AT) & (TLG_CHUNK_STRIDE - 1));
}

/* The head and the first entries of the tables.  Where memory is committed by the file's name, it must be writable. */
static int commit_first_pages(unsigned char *base, int fd)
{
	if (!madvise(base, LEAST_CHUNKS_AT, MADV_POPULATE_WRITE))
		return 0;
	fchmod(fd, 0600);
	return tr2_shm_commit(base, LEAST_CHUNKS_AT);
}

static uint64_t time_since_boot(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void fill_head(unsigned char *base, size_t chunks_at, size_t tables_at, size_t bytes)
{
	struct tlg_ring_file *head = (struct tlg_ring_file *)(void *)base;
	struct tr2_anchor first = tr2_clock_first();

	*head = (struct tlg_ring_file){
		.layout = TLG_RING_LAYOUT, .entry_size = TLG_EVENT_SIZE,
		.pid = (uint32_t)getpid(), .clock_type = tr2_clock_type(),
		.start = first.raw, .start_ns = first.ns, .created = time_since_boot(),
		.chunks_at = chunks_at, .tables_at = tables_at, .bytes = bytes,
		.texts_used = 1,
	};
	tr2_store_rel(&head->magic, TLG_RING_MAGIC); /* [M8] release: the rest of the head.  Pairs with its readers */
}

int tr2_shm_create(uint32_t stream)
{
	unsigned chunks = allowed_chunks();
	unsigned char *base;
	size_t bytes, chunks_at, tables_at;
	int error, fd;

	if (!chunks)
		return -EFBIG;
	fd = open_file(stream);
	if (fd < 0)
		return -errno;
	g_file = tr2_fd_identify(fd);
	g_base = base = map_file(fd, &chunks, &bytes);
	error = base ? commit_first_pages(base, fd) : -ENOMEM;
	close(fd);
	if (error) {
		if (base)
			munmap(base, bytes);
		tr2_shm_unlink();
		return error;
	}
	chunks_at = find_chunks(base);
	tables_at = chunks_at + (size_t)chunks * TLG_CHUNK_STRIDE;
	fill_head(base, chunks_at, tables_at, bytes);
	tr2_g_shm = (struct tr2_shm){
		.head = (struct tlg_ring_file *)(void *)base,
		.base = base, .chunks = base + chunks_at, .tables_at = tables_at, .max_chunks = chunks,
	};
	return 0;
}

void tr2_shm_unlink(void)
{
	if (g_path[0] && (!tr2_g_shm.head || tr2_g_shm.head->pid == (uint32_t)getpid()))
		unlink(g_path);
	g_path[0] = '\0';
}

void tr2_shm_leave(void)
{
	struct statvfs system;

	if (!g_path[0] || statvfs(g_path, &system) || system.f_bavail < system.f_blocks / 2)
		tr2_shm_unlink();
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
	int fd = base ? open(g_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	int error = ENOSPC;

	if (fd < 0)
		return -error;
	if (tr2_fd_is(fd, &g_file))
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
