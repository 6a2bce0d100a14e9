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

#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_fd.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "settings/tr2_env.h"
#include "tr2_map.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23    /* Linux 5.14 */
#endif

enum { PAGE = 4096, MIN_BYTES = 4 << 20 };

struct tr2_shm tr2_g_shm;
static uint32_t g_signal;                 /* of tlg_ring_stacks */
static char g_path[256];                  /* stays when the name is gone: a thread may be about to open it */
static int g_is_named;                    /* the file has it */
static unsigned char *g_base;             /* where the file is mapped */
static struct tr2_fd_identity g_file;

int tr2_shm_is_own(void)
{
	return tr2_g_shm.head && tr2_g_shm.head->pid == (uint32_t)tr2_sys_getpid();
}

const char *tr2_shm_path(void)
{
	return tr2_load_rlx(&g_is_named) ? g_path : ""; /* relaxed: a flag, which orders nothing */
}

const char *tr2_shm_last_path(void)
{
	return g_path;
}

int tr2_shm_is_file(int fd)
{
	return tr2_fd_is(fd, &g_file);
}

void tr2_shm_set_file(const int *fd)
{
	if (fd)
		g_file = tr2_fd_identify(*fd);
	tr2_store_rlx(&g_is_named, fd != NULL); /* relaxed: a flag, which orders nothing */
}

/*
 * A new file in directory, open; or -1.  O_EXCL and O_NOFOLLOW: nobody else's file is ever touched.  Truncating it
 * would kill us: so nobody may write to it, and only the superuser can by mistake.
 */
static int open_in(const char *directory, uint32_t stream)
{
	struct tr2_text path = tr2_text_begin(g_path, sizeof(g_path));

	tr2_text_add(&path, directory);
	tr2_text_add(&path, "/trace2-");
	tr2_text_hex(&path, (uint64_t)tr2_sys_getpid(), 16);
	tr2_text_add(&path, "-");
	tr2_text_hex(&path, tr2_clock_start() ^ stream, 16);
	tr2_text_add(&path, ".ring");
	return tr2_sys_open(g_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
}

/* $XDG_RUNTIME_DIR as it was at the start: a forked child may be in the midst of changing its environment. */
static const char *find_runtime_directory(void)
{
	static char directory[128];
	static int is_known;
	const char *value = is_known ? NULL : secure_getenv("XDG_RUNTIME_DIR");

	if (value && *value == '/' && strlen(value) < sizeof(directory))
		strcpy(directory, value);
	is_known = 1;
	return directory;
}

static const char memory[] = "/dev/shm";

const char *tr2_shm_directory(unsigned i)
{
	const char *runtime = find_runtime_directory();

	return i ? memory : strcmp(runtime, memory) != 0 ? runtime : "";
}

static int open_file(uint32_t stream)
{
	const char *runtime = find_runtime_directory();
	int fd = -1;

	if (*runtime)
		fd = open_in(runtime, stream);
	if (fd < 0)
		fd = open_in(memory, stream);
	tr2_store_rlx(&g_is_named, fd >= 0); /* relaxed: as above */
	return fd >= 0 ? fd : tr2_sys_memfd("trace2", MFD_CLOEXEC);   /* nowhere would it outlive us */
}

/* A page that is only allocated is a hole to lseek(2), by which tr2_detach() finds what to keep. */
static void touch(volatile unsigned char *pages, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		pages[at] = 0;
}

/*
 * Have the file system provide memory, which reads as zeros.  MADV_POPULATE_WRITE takes longer, for it empties the
 * processor's lists of pages.  Where neither is possible memory is committed by the file's name, so it must be
 * writable.
 */
static int provide(unsigned char *base, int fd, size_t at, size_t bytes)
{
	if (fd >= 0 && !tr2_sys_fallocate(fd, (off_t)at, (off_t)bytes)) {
		touch(base + at, bytes);
		return 0;
	}
	if (!tr2_sys_advise(base + at, bytes, MADV_POPULATE_WRITE))
		return 0;
	if (fd >= 0)
		tr2_sys_fchmod(fd, 0600);
	return tr2_shm_commit(base + at, bytes);
}

/* The head, the first entries of the tables, and the first chunk as far as a short process uses it. */
static int provide_first_pages(const struct tr2_map *map, int fd)
{
	const size_t chunk = map->first_chunk_at, last = chunk + TLG_CHUNK_BYTES - PAGE;
	const int follows = chunk == TR2_MAP_FIRST_CHUNK_AT;
	int error = provide(map->base, fd, 0, TR2_MAP_FIRST_CHUNK_AT + (follows ? PAGE : 0));

	if (!error && !follows)
		error = provide(map->base, fd, chunk, PAGE);
	return error ? error : provide(map->base, fd, last, PAGE);
}

static uint64_t time_since_boot(void)
{
	struct timespec t;

	tr2_sys_clock(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void fill_head(const struct tr2_map *map)
{
	struct tlg_ring_file *head = (struct tlg_ring_file *)(void *)map->base;
	struct tr2_anchor first = tr2_clock_first();

	*head = (struct tlg_ring_file){
		.layout = TLG_RING_LAYOUT, .entry_size = TLG_EVENT_SIZE,
		.pid = (uint32_t)tr2_sys_getpid(), .clock_type = tr2_clock_type(),
		.start = first.raw, .start_ns = first.ns, .created = time_since_boot(),
		.chunks_at = map->chunks_at, .rings_at = map->rings_at, .tables_at = map->tables_at,
		.bytes = map->bytes, .texts_used = 1, .first_chunk_at = map->first_chunk_at,
		.stacks = { .signal = tr2_load_rlx(&g_signal) }, /* relaxed: a number by itself */
	};
	tr2_store_rel(&head->magic, TLG_RING_MAGIC); /* [M8] release: the rest of the head.  Pairs with its readers */
}

/*
 * Past RLIMIT_FSIZE ftruncate() would raise SIGXFSZ.  Where it allows hardly any file, memory is anonymous, and lost
 * with the process.
 * Return  0 or -errno; *fd: -1 without a file, *max: bytes that the file may have
 */
static int open_within_limit(uint32_t stream, int *fd, rlim_t *max)
{
	struct rlimit limit;

	*fd = -1;
	*max = tr2_sys_getrlimit(RLIMIT_FSIZE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
	tr2_store_rlx(&g_is_named, 0); /* relaxed: as above */
	if (*max < MIN_BYTES) {
		*max = RLIM_INFINITY;
		return 0;
	}
	*fd = open_file(stream);
	if (*fd < 0)
		return -errno;
	g_file = tr2_fd_identify(*fd);
	return 0;
}

static void use(const struct tr2_map *map)
{
	unsigned char *base = map->base;

	tr2_g_shm = (struct tr2_shm){
		.head = (struct tlg_ring_file *)(void *)base,
		.base = base, .chunks = base + map->chunks_at, .tables_at = map->tables_at,
		.first_chunk = (struct tlg_chunk *)(void *)(base + map->first_chunk_at), .rings_at = map->rings_at,
		.max_rings = map->rings, .max_chunks = map->chunks, .text_bytes = map->text_bytes,
	};
	if (tr2_g_settings.dst_debug && map->is_reduced)
		tr2_warning("less memory for rings: ", "a limit on addresses or file sizes");
}

int tr2_shm_create(uint32_t stream)
{
	struct tr2_map map;
	rlim_t max;
	int fd, error = open_within_limit(stream, &fd, &max);

	if (error)
		return error;
	map = tr2_map_create(fd, max, strncmp(g_path, memory, sizeof(memory) - 1) != 0);
	g_base = map.base;
	error = map.base ? provide_first_pages(&map, fd) : -ENOMEM;
	if (fd >= 0)
		tr2_sys_close(fd);
	if (error) {
		if (map.base)
			tr2_map_destroy();
		tr2_shm_unlink();
		return error;
	}
	fill_head(&map);
	use(&map);
	return 0;
}

/*
 * In a sticky directory only the file's owner removes it.  The chunks that threads have now stay in memory: a call that
 * is under way may write there, and must not find that the file system has become full.  So do the rings, for mutexes
 * in them are in the lists of their threads, which the kernel follows.
 */
static void leave_empty(struct tlg_ring_file *head)
{
	uint32_t used = tr2_load_rlx(&head->chunks_used); /* relaxed: recording is off */

	tr2_store_rlx(&head->is_over, 1); /* relaxed: a number by itself */
	for (uint32_t i = 0; i < used && i < tr2_g_shm.max_chunks; i++)
		/* relaxed: as above */
		if (tr2_load_rlx(&tr2_shm_chunk(i)->state) != TLG_CHUNK_OPEN)
			tr2_shm_release((unsigned char *)tr2_shm_chunk(i), TLG_CHUNK_BYTES);
}

void tr2_shm_unlink(void)
{
	struct tlg_ring_file *head = tr2_g_shm.head;

	/* relaxed: as above */
	if (!tr2_exchange_rlx(&g_is_named, 0) || (head && head->pid != (uint32_t)tr2_sys_getpid()))
		return;
	if (tr2_sys_unlink(g_path) && errno != ENOENT && head)
		leave_empty(head);
}

void tr2_shm_leave(void)
{
	struct statfs system;

	if (!tr2_sys_statfs(tr2_shm_path(), &system) && system.f_bavail < system.f_blocks / 2)
		tr2_shm_unlink();
	tr2_store_rlx(&g_is_named, 0); /* relaxed: as above */
}

void tr2_shm_forget(void)
{
	tr2_store_rlx(&g_is_named, 0); /* relaxed: as above */
	tr2_g_shm = (struct tr2_shm){ .head = NULL };
}

void tr2_shm_set_signal(uint32_t signal)
{
	tr2_store_rlx(&g_signal, signal); /* relaxed: a number by itself */
	if (tr2_shm_is_own())
		tr2_store_rlx(&tr2_g_shm.head->stacks.signal, signal); /* relaxed: as above */
}

/* Kernels before 5.14: allocate through the file's name, if it is still the file that is mapped. */
static int commit_by_name(const unsigned char *address, size_t bytes)
{
	const unsigned char *base = g_base;
	int fd = base ? tr2_sys_open(tr2_shm_path(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0) : -1;
	int error = ENOSPC;

	if (fd < 0)
		return -error;
	if (tr2_fd_is(fd, &g_file))
		error = posix_fallocate(fd, address - base, (off_t)bytes);
	tr2_sys_close(fd);
	return -error;
}

int tr2_shm_commit(void *address, size_t bytes)
{
	uintptr_t first = (uintptr_t)address & ~(uintptr_t)(PAGE - 1);
	size_t length = ((uintptr_t)address + bytes - first + PAGE - 1) & ~(size_t)(PAGE - 1);
	int saved = errno, error = 0;

	if (tr2_sys_advise((void *)first, length, MADV_POPULATE_WRITE))
		error = errno == EINVAL ? commit_by_name((void *)first, length) : -ENOSPC;
	errno = saved;
	return error;
}

int tr2_shm_release(void *address, size_t bytes)
{
	int saved = errno, error = tr2_sys_advise(address, bytes, MADV_REMOVE) ? -errno : 0;

	errno = saved;
	return error;
}

int tr2_shm_reach(unsigned chunk)
{
	return tr2_map_reach(tr2_g_shm.chunks + ((size_t)chunk + 1) * TLG_CHUNK_STRIDE);
}

int tr2_shm_reach_rings(unsigned n)
{
	return tr2_map_reach((const unsigned char *)tr2_shm_ring(n - 1) + TLG_RING_STRIDE);
}
