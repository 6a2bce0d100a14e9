/* SPDX-License-Identifier: MIT */
/* tr2_detach.c - what the file holds is noted before its name goes: later nobody can ask the file system. */
#include "tr2_detach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tr2_leftover.h"
#include "tr2_map.h"
#include "tr2_shm.h"
#include "base/tr2_memory.h"
#include "base/tr2_sandbox.h"
#include "base/tr2_sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23    /* Linux 5.14 */
#endif

enum {
	PAGE = 4096,
	MAX_RANGES = 512,
	MAX_BYTES = 16 << 20,             /* to be copied, if exec fails: 8 ms */
};

/* Parts of the file that are in memory: whole pages. */
struct range { size_t at, bytes; };

TR2_LARGE static struct range g_ranges[MAX_RANGES];
static unsigned g_nranges;
int tr2_g_is_detached;

/* ---- the name goes ------------------------------------------------------------------------------ */

/* Return  0: there are too many, or they are too large */
static int note_ranges(int fd)
{
	const off_t size = (off_t)tr2_g_shm.head->bytes;
	size_t total = 0;
	off_t at, end = 0;

	for (g_nranges = 0; end < size; g_nranges++) {
		at = tr2_sys_lseek(fd, end, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO && g_nranges;   /* no more */
		end = tr2_sys_lseek(fd, at, SEEK_HOLE);
		if (end <= at || g_nranges == MAX_RANGES || (size_t)(end - at) > MAX_BYTES - total)
			return 0;
		g_ranges[g_nranges] = (struct range){ (size_t)at, (size_t)(end - at) };
		total += (size_t)(end - at);
	}
	return 1;
}

/*
 * Kernels without MADV_POPULATE_WRITE commit memory by the file's name.  Not all file
 * systems skip holes for SEEK_DATA; tmpfs does.
 */
static int may_detach(void)
{
	struct statfs system;

	return *tr2_shm_path() && tr2_shm_is_own() &&
	       !tr2_sys_statfs(tr2_shm_path(), &system) && (unsigned long)system.f_type == TMPFS_MAGIC &&
	       !tr2_sys_advise(tr2_g_shm.base, PAGE, MADV_POPULATE_WRITE);
}

int tr2_detach(void)
{
	int saved = errno, is_detached = 0, fd = -1;

	if (may_detach())
		fd = tr2_sys_open(tr2_shm_path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd >= 0) {
		is_detached = tr2_shm_is_file(fd) && tr2_leftover_is_empty(fd) && note_ranges(fd) &&
			      !tr2_sys_unlink(tr2_shm_path());
		tr2_sys_close(fd);
	}
	if (is_detached) {
		tr2_shm_set_file(NULL);
		tr2_store_rlx(&tr2_g_is_detached, 1); /* relaxed: see tr2_is_detached() */
	}
	errno = saved;
	return is_detached;
}

/* ---- and comes back ----------------------------------------------------------------------------- */

/*
 * Beyond a limit of file sizes the kernel would raise SIGXFSZ.  A vfork() child that was killed in here may have left a
 * file of our name: nobody else uses it.
 */
static int open_new(int *fd)
{
	struct rlimit limit;

	if (tr2_sandbox_has_begun())
		return -EPERM;
	if (!tr2_sys_getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < tr2_g_shm.head->bytes)
		return -EFBIG;
	tr2_sys_unlink(tr2_shm_last_path());
	*fd = tr2_sys_open(tr2_shm_last_path(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	return *fd < 0 ? -errno : 0;
}

/* The magic number comes last: until then readers take the file for one that has just been made. */
static int copy_ranges(unsigned char *to)
{
	const unsigned char *from = tr2_g_shm.base;
	const size_t skipped = sizeof(tr2_g_shm.head->magic);

	for (unsigned i = 0; i < g_nranges; i++) {
		const struct range *range = &g_ranges[i];
		size_t first = range->at < skipped ? skipped : range->at;
		if (tr2_sys_advise(to + range->at, range->bytes, MADV_POPULATE_WRITE))
			return -errno;
		memcpy(to + first, from + first, range->at + range->bytes - first);
	}
	/* [M8] release: the rest of the file.  Pairs with its readers */
	tr2_store_rel(&((struct tlg_ring_file *)(void *)to)->magic, tr2_g_shm.head->magic);
	return 0;
}

/* A part of the new mapping. */
struct part { size_t at, bytes; enum { ACCESSIBLE, INACCESSIBLE, HOLE } kind; };
enum { PARTS = 4 };

/* As in tr2_map.c nothing is accessible when it is mapped: mlockall() would have the kernel fill the holes. */
static int fill(unsigned char *memory, const struct part *parts)
{
	for (int i = 0; i < PARTS; i++)
		if (parts[i].kind == ACCESSIBLE &&
		    tr2_sys_protect(memory + parts[i].at, parts[i].bytes, PROT_READ | PROT_WRITE))
			return -errno;
	return copy_ranges(memory);
}

/*
 * Each part takes the old one's place as it is, so at no time is there an address that cannot be accessed.  After an
 * error the rest is unmapped: part by part, for where one was the program may have mapped something meanwhile.
 */
static int move(unsigned char *memory, const struct part *parts, int error)
{
	for (int i = PARTS - 1; i >= 0; i--) {
		unsigned char *from = memory + parts[i].at;
		const int stays = parts[i].bytes && !error && parts[i].kind != HOLE;
		if (stays && tr2_sys_move(from, parts[i].bytes, tr2_g_shm.base + parts[i].at))
			error = -errno;
		if (parts[i].bytes && (!stays || error))
			tr2_sys_unmap(from, parts[i].bytes);
	}
	return error;
}

static int attach_to(int fd)
{
	const size_t all = (size_t)tr2_g_shm.head->bytes, chunks = (size_t)(tr2_g_shm.chunks - tr2_g_shm.base);
	const struct tr2_map_parts is = tr2_map_parts();
	const size_t end = chunks + is.chunks, mapped = is.is_mapped ? all : end;
	const struct part parts[PARTS] = {
		{ 0, is.tables, ACCESSIBLE }, { chunks, is.chunks, ACCESSIBLE },
		{ end, mapped - end, INACCESSIBLE },
		{ is.tables, chunks - is.tables, is.is_mapped ? INACCESSIBLE : HOLE },
	};
	unsigned char *memory;
	int error;

	if (tr2_sys_ftruncate(fd, (off_t)all))
		return -errno;
	memory = tr2_sys_map(mapped, PROT_NONE, MAP_SHARED, fd);
	if (!memory)
		return -errno;
	tr2_sys_advise(memory, mapped, MADV_DONTDUMP);
	error = move(memory, parts, fill(memory, parts));
	if (!error)
		tr2_shm_set_file(&fd);
	return error;
}

int tr2_attach(void)
{
	int saved = errno, fd = -1, error = open_new(&fd);

	if (!error) {
		error = attach_to(fd);
		tr2_sys_close(fd);
		if (error)
			tr2_sys_unlink(tr2_shm_last_path());
	}
	tr2_store_rlx(&tr2_g_is_detached, 0); /* relaxed: see tr2_is_detached() */
	errno = saved;
	return error;
}

void tr2_detach_reset(void)
{
	tr2_store_rlx(&tr2_g_is_detached, 0); /* relaxed: nobody is there yet */
}
