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

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23    /* Linux 5.14 */
#endif

enum {
	PAGE = 4096,
	TABLES_AT = TR2_SHM_FIRST_CHUNK_AT + TLG_CHUNK_STRIDE + TLG_CHUNK_BYTES,
	OTHER_BYTES = TABLES_AT + TLG_TEXTS_AT + TLG_CHUNK_STRIDE,   /* than strings, rings and chunks */
	MIN_BYTES = 4 << 20,
	MIN_CHUNKS = 4,
	REACH_CHUNKS = 256,               /* made accessible at once */
};

#define MAX_ADDRESSES (sizeof(void *) < 8 ? (rlim_t)128 << 20 : RLIM_INFINITY)

/* How large the parts of the file are, and where they begin; chunks: up to a stride later. */
struct plan {
	unsigned rings, chunks;
	uint32_t text_bytes;
	size_t rings_at, chunks_at, bytes;
};

struct tr2_shm tr2_g_shm;
static uint32_t g_signal;                 /* of tlg_ring_stacks */
static char g_path[256];                  /* stays when the name is gone: a thread may be about to open it */
static int g_is_named;                    /* the file has it */
static unsigned char *g_base;             /* where the file is mapped */
static struct tr2_fd_identity g_file;
static unsigned g_reached;                /* chunks up to here can be accessed */

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

size_t tr2_shm_accessible(void)
{
	/* relaxed: no other thread opens chunks meanwhile */
	return (size_t)(tr2_g_shm.chunks - tr2_g_shm.base) + (size_t)tr2_load_rlx(&g_reached) * TLG_CHUNK_STRIDE;
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

static rlim_t get_limit(unsigned resource)
{
	struct rlimit limit;

	return tr2_sys_getrlimit(resource, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

static rlim_t least(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* Each ring has a chunk of its own, if it wants one, and the pool's memory as many as it is worth. */
static struct plan make_plan(rlim_t max)
{
	const rlim_t all = TLG_MAX_RINGS + tr2_g_settings.memory_bytes / TLG_CHUNK_BYTES;
	rlim_t rest = max > OTHER_BYTES ? max - OTHER_BYTES : 0;
	struct plan plan = { .text_bytes = (uint32_t)least(TLG_RING_TEXT_BYTES, rest / 8 & ~(rlim_t)(PAGE - 1)) };

	rest = (rest - plan.text_bytes) / (TLG_CHUNK_STRIDE + TLG_RING_STRIDE);
	plan.chunks = (unsigned)least(rest, least(all, TLG_MAX_CHUNKS));
	plan.rings = (unsigned)least(plan.chunks, TLG_MAX_RINGS);
	plan.rings_at = TABLES_AT + TLG_TEXTS_AT + plan.text_bytes;
	plan.chunks_at = (plan.rings_at + (size_t)plan.rings * TLG_RING_STRIDE + PAGE - 1) & ~(size_t)(PAGE - 1);
	plan.bytes = plan.chunks_at + TLG_CHUNK_STRIDE + (size_t)plan.chunks * TLG_CHUNK_STRIDE;
	return plan;
}

/*
 * Past RLIMIT_FSIZE ftruncate() would raise SIGXFSZ.  Addresses are the program's: where RLIMIT_AS makes them few, we
 * take an eighth of them, and of those of 32 bits no more than 128 MiB.
 */
static rlim_t allowed_addresses(void)
{
	const rlim_t addresses = get_limit(RLIMIT_AS), max = MAX_ADDRESSES;

	if (addresses == RLIM_INFINITY)
		return max;
	return least(max, addresses / 8 > MIN_BYTES ? addresses / 8 : MIN_BYTES);
}

/* Chunks lie where their addresses are multiples of their stride. */
static size_t find_chunks(const unsigned char *base, size_t from)
{
	return from + (-((uintptr_t)base + from) & (TLG_CHUNK_STRIDE - 1));
}

/* Chunks lie in the upper halves of their strides: where bit 16 of the address is set. */
static size_t find_first_chunk(const unsigned char *base)
{
	const size_t from = TR2_SHM_FIRST_CHUNK_AT, half = TLG_CHUNK_BYTES;

	return from + ((half - ((uintptr_t)base + from)) & (TLG_CHUNK_STRIDE - 1));
}

/*
 * A place for the mapping where find_first_chunk() finds TR2_SHM_FIRST_CHUNK_AT: below the library's other memory,
 * where the kernel places the next mapping anyway.  It is a hint: if something else is there, the kernel takes another.
 */
static void *find_place(size_t bytes)
{
	const uintptr_t end = (uintptr_t)tr2_memory_begin(), below = end > bytes ? end - bytes : 0;
	const uintptr_t place = (below & ~(uintptr_t)(TLG_CHUNK_STRIDE - 1)) + TLG_CHUNK_BYTES - TR2_SHM_FIRST_CHUNK_AT;

	return (void *)(place <= below ? place : below ? place - TLG_CHUNK_STRIDE : 0);
}

/* Up to where memory is accessible from the start: the head, the tables, the chunks that are used first. */
static size_t accessible(const unsigned char *base, const struct plan *plan)
{
	const size_t chunks = plan->chunks < REACH_CHUNKS ? plan->chunks : REACH_CHUNKS;

	return find_chunks(base, plan->chunks_at) + chunks * TLG_CHUNK_STRIDE;
}

/*
 * The other chunks can be accessed from tr2_shm_reach() on.  In this order the kernel splits the mapping once.
 * $XDG_RUNTIME_DIR may lie on a disk: there, without MADV_RANDOM, the kernel would fill megabytes of read-ahead with
 * zeros for the first page that is touched.
 */
static unsigned char *map_plan(int fd, const struct plan *plan)
{
	const int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *base;

	if (fd >= 0 && tr2_sys_ftruncate(fd, (off_t)plan->bytes))
		return NULL;
	base = tr2_sys_map_at(find_place(plan->bytes), plan->bytes, PROT_NONE, flags, fd);
	if (!base)
		return NULL;
	tr2_sys_advise(base, plan->bytes, MADV_DONTDUMP);
	if (fd >= 0)
		tr2_sys_advise(base, plan->bytes, MADV_RANDOM);
	if (tr2_sys_protect(base, accessible(base, plan), PROT_READ | PROT_WRITE)) {
		tr2_sys_unmap(base, plan->bytes);
		return NULL;
	}
	return base;
}

/* Map as much as fits the address space. */
static unsigned char *map_file(int fd, rlim_t max, struct plan *plan)
{
	unsigned char *base = NULL;

	for (*plan = make_plan(max); !base && plan->chunks >= MIN_CHUNKS; *plan = make_plan(plan->bytes / 4)) {
		base = map_plan(fd, plan);
		if (base)
			break;
	}
	return base;
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
static int provide_first_pages(unsigned char *base, int fd)
{
	const size_t chunk = find_first_chunk(base), last = chunk + TLG_CHUNK_BYTES - PAGE;
	const int follows = chunk == TR2_SHM_FIRST_CHUNK_AT;
	int error = provide(base, fd, 0, TR2_SHM_FIRST_CHUNK_AT + (follows ? PAGE : 0));

	if (!error && !follows)
		error = provide(base, fd, chunk, PAGE);
	return error ? error : provide(base, fd, last, PAGE);
}

static uint64_t time_since_boot(void)
{
	struct timespec t;

	tr2_sys_clock(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void fill_head(unsigned char *base, size_t chunks_at, const struct plan *plan)
{
	struct tlg_ring_file *head = (struct tlg_ring_file *)(void *)base;
	struct tr2_anchor first = tr2_clock_first();

	*head = (struct tlg_ring_file){
		.layout = TLG_RING_LAYOUT, .entry_size = TLG_EVENT_SIZE,
		.pid = (uint32_t)tr2_sys_getpid(), .clock_type = tr2_clock_type(),
		.start = first.raw, .start_ns = first.ns, .created = time_since_boot(),
		.chunks_at = chunks_at, .rings_at = plan->rings_at, .tables_at = TABLES_AT, .bytes = plan->bytes,
		.texts_used = 1, .first_chunk_at = find_first_chunk(base),
		.stacks = { .signal = tr2_load_rlx(&g_signal) }, /* relaxed: a number by itself */
	};
	tr2_store_rel(&head->magic, TLG_RING_MAGIC); /* [M8] release: the rest of the head.  Pairs with its readers */
}

/*
 * Where RLIMIT_FSIZE allows no file that long, memory is anonymous, and lost with the process.
 * Return  0 or -errno; *fd: -1 without a file, *max: bytes that the mapping may have
 */
static int open_within_limits(uint32_t stream, int *fd, rlim_t *max)
{
	const rlim_t file = get_limit(RLIMIT_FSIZE);

	*fd = -1;
	*max = allowed_addresses();
	tr2_store_rlx(&g_is_named, 0); /* relaxed: as above */
	if (file < MIN_BYTES)
		return 0;
	*max = least(*max, file);
	*fd = open_file(stream);
	if (*fd < 0)
		return -errno;
	g_file = tr2_fd_identify(*fd);
	return 0;
}

static void report_less(const struct plan *plan)
{
	if (tr2_g_settings.dst_debug && plan->chunks < make_plan(MAX_ADDRESSES).chunks)
		tr2_warning("less memory for rings: ", "a limit on addresses or file sizes");
}

int tr2_shm_create(uint32_t stream)
{
	unsigned char *base;
	struct plan plan;
	size_t chunks_at;
	rlim_t max;
	int fd, error = open_within_limits(stream, &fd, &max);

	if (error)
		return error;
	g_base = base = map_file(fd, max, &plan);
	error = base ? provide_first_pages(base, fd) : -ENOMEM;
	if (fd >= 0)
		tr2_sys_close(fd);
	if (error) {
		if (base)
			tr2_sys_unmap(base, plan.bytes);
		tr2_shm_unlink();
		return error;
	}
	chunks_at = find_chunks(base, plan.chunks_at);
	fill_head(base, chunks_at, &plan);
	tr2_g_shm = (struct tr2_shm){
		.head = (struct tlg_ring_file *)(void *)base,
		.base = base, .chunks = base + chunks_at, .tables_at = TABLES_AT,
		.first_chunk = (struct tlg_chunk *)(void *)(base + find_first_chunk(base)), .rings_at = plan.rings_at,
		.max_rings = plan.rings, .max_chunks = plan.chunks, .text_bytes = plan.text_bytes,
	};
	/* relaxed: nobody is there yet */
	tr2_store_rlx(&g_reached, plan.chunks < REACH_CHUNKS ? plan.chunks : REACH_CHUNKS);
	report_less(&plan);
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

	if (tr2_sys_statfs(tr2_shm_path(), &system) || system.f_bavail < system.f_blocks / 2)
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
	unsigned end = (chunk / REACH_CHUNKS + 1) * REACH_CHUNKS;
	unsigned char *from = tr2_g_shm.chunks + (size_t)(end - REACH_CHUNKS) * TLG_CHUNK_STRIDE, *to;
	int saved = errno, error = 0;

	if (chunk < tr2_load_rlx(&g_reached)) /* relaxed: a thread that does not see it does it again */
		return 0;
	if (end > tr2_g_shm.max_chunks)
		end = tr2_g_shm.max_chunks;
	to = tr2_g_shm.chunks + (size_t)end * TLG_CHUNK_STRIDE;
	if (tr2_sys_protect(from, (size_t)(to - from), PROT_READ | PROT_WRITE))
		error = -errno;
	else
		tr2_store_rlx(&g_reached, end); /* relaxed: as above; what goes back costs a call */
	errno = saved;
	return error;
}
