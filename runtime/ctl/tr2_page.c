/* SPDX-License-Identifier: MIT */
/* tr2_page.c - see tr2_page.h. */
#include "tr2_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_futex.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23    /* Linux 5.14 */
#endif

enum {
	MAX_FALSE_ALARMS = 2000,          /* in a row: a page that wakes the thread for nothing so often is closed */
};

static struct page {
	struct tlg_ctl *at;               /* NULL: there is none, or it is not used any more */
	pid_t pid;                        /* whose it is */
	uint32_t answered;                /* number of the latest command with an answer: not what the page says */
	unsigned false_alarms;
	int is_closed;                    /* its file has no name any more */
} g_page;

static int g_is_asked_for;
static char g_path[256];

void tr2_page_read_setting(void)
{
	const char *value = tr2_env_get("CTL");

	if (value)
		g_is_asked_for = strcmp(value, "0") != 0 && !tr2_text_is(value, "false");
}

int tr2_page_is_asked_for(void)
{
	if (tr2_env_is_empty())
		return 0;
	tr2_page_read_setting();
	return g_is_asked_for;
}

int tr2_page_is_to_open(void)
{
	return g_is_asked_for;
}

static struct tlg_ctl *page(void)
{
	return tr2_load_rlx(&g_page.at); /* relaxed: set before the threads that use it start, or wake */
}

int tr2_page_is_open(void)
{
	return page() != NULL && g_page.pid == tr2_sys_getpid();
}

/* ---- making it ---------------------------------------------------------------------------------- */

static int open_in(const char *directory)
{
	struct tr2_text path = tr2_text_begin(g_path, sizeof(g_path));

	if (!*directory)
		return -1;
	tr2_text_add(&path, directory);
	tr2_text_add(&path, "/trace2-");
	tr2_text_hex(&path, (uint64_t)tr2_sys_getpid(), 16);
	tr2_text_add(&path, "-");
	tr2_text_hex(&path, tr2_clock_raw(), 16);
	tr2_text_add(&path, ".ctl");
	return tr2_sys_open(g_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Memory comes before the first access: a full file system is an error here.  Return  0; -1 with errno */
static int commit(int fd, void *mapping)
{
	int error;

	if (!tr2_sys_advise(mapping, TLG_CTL_BYTES, MADV_POPULATE_WRITE))
		return 0;
	error = errno == EINVAL ? posix_fallocate(fd, 0, TLG_CTL_BYTES) : ENOSPC;   /* before Linux 5.14 */
	errno = error;
	return error ? -1 : 0;
}

/* Return  NULL with errno */
static struct tlg_ctl *map_and_fill(int fd)
{
	struct tlg_ctl *mapping = NULL;
	int error;

	if (!tr2_sys_ftruncate(fd, TLG_CTL_BYTES))
		mapping = tr2_sys_map(TLG_CTL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (!mapping || commit(fd, mapping)) {
		error = errno;
		if (mapping)
			tr2_sys_unmap(mapping, TLG_CTL_BYTES);
		errno = error;
		return NULL;
	}
	mapping->layout = TLG_CTL_LAYOUT;
	mapping->bytes = TLG_CTL_BYTES;
	mapping->pid = (uint32_t)tr2_sys_getpid();
	mapping->magic = TLG_CTL_MAGIC;
	return mapping;
}

/* A file beyond the limit would raise SIGXFSZ. */
static int may_make_files(void)
{
	struct rlimit limit;

	return tr2_sys_getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= TLG_CTL_BYTES;
}

static int open_page(void)
{
	struct tlg_ctl *mapping = NULL;
	int fd = -1, error;

	if (!may_make_files())
		return -EFBIG;
	for (unsigned i = 0; i < TR2_SHM_DIRECTORIES && fd < 0; i++)
		fd = open_in(tr2_shm_directory(i));
	if (fd >= 0)
		mapping = map_and_fill(fd);
	error = mapping ? 0 : -errno;
	if (fd >= 0)
		tr2_sys_close(fd);
	if (fd >= 0 && !mapping)
		tr2_sys_unlink(g_path);
	if (error)
		return error;
	tr2_sys_advise(mapping, TLG_CTL_BYTES, MADV_DONTDUMP);
	g_page = (struct page){ .pid = tr2_sys_getpid() };
	tr2_store_rlx(&g_page.at, mapping); /* relaxed: as above */
	return 0;
}

int tr2_page_open(void)
{
	int saved = errno, error;

	if (!g_is_asked_for || tr2_page_is_open())
		return g_is_asked_for ? 0 : -EPERM;
	error = open_page();
	if (error && tr2_g_settings.dst_debug)
		tr2_warning("no control page: ", tr2_text_error(-error));
	errno = saved;
	return error;
}

void tr2_page_close(void)
{
	int saved = errno;

	if (tr2_page_is_open() && !tr2_exchange_rlx(&g_page.is_closed, 1)) /* relaxed: a flag, which orders nothing */
		tr2_sys_unlink(g_path);
	errno = saved;
}

int tr2_page_is_inherited(void)
{
	/* relaxed: a flag, which orders nothing */
	return page() && !tr2_load_rlx(&g_page.is_closed) && g_page.pid != tr2_sys_getpid();
}

void tr2_page_forget(void)
{
	tr2_store_rlx(&g_page.at, NULL); /* relaxed: no other thread of ours is there */
}

/* ---- what may be touched ------------------------------------------------------------------------ */

/* The mapping stays, for a thread that has just looked: only nobody uses it from here on. */
static void give_up(void)
{
	tr2_page_close();
	tr2_store_rlx(&g_page.at, NULL); /* relaxed: a thread that still rings the bell comes before the next sleep */
}

/* To wake those who wait for a word, the kernel looks for its page: if there is none any more, that fails. */
static int is_there(struct tlg_ctl *at)
{
	int saved = errno, error = tr2_sys_futex(&at->answered, FUTEX_WAKE, 0, NULL) < 0;

	if (error)
		give_up();
	errno = saved;
	return !error;
}

/* ---- sleeping ----------------------------------------------------------------------------------- */

uint32_t tr2_page_listen(void)
{
	struct tlg_ctl *at = page();

	return at && is_there(at) ? tr2_load_rlx(&at->bell) : 0; /* relaxed: the futex compares it again */
}

/* A page that rings for nothing, without end, would take a processor. */
static void count_alarm(struct tlg_ctl *at, const uint32_t *own, uint32_t seen, uint32_t bell)
{
	if (tr2_load_rlx(own) != seen || tr2_page_is_asked()) /* relaxed: a hint */
		g_page.false_alarms = 0;
	else if (is_there(at) && tr2_load_rlx(&at->bell) != bell && ++g_page.false_alarms > MAX_FALSE_ALARMS)
		/* relaxed, above: only whether it differs */
		give_up();
}

void tr2_page_wait(uint32_t bell, const uint32_t *own, uint32_t seen, const struct timespec *timeout)
{
	struct tlg_ctl *at = page();

	if (!at) {
		tr2_futex_wait(own, seen, timeout);
		return;
	}
	/* relaxed: a wake that is not seen here has found the thread asleep, and rings */
	if (tr2_load_rlx(own) != seen || tr2_page_is_asked())
		return;
	if (tr2_sys_futex(&at->bell, FUTEX_WAIT, bell, timeout) && errno == EFAULT)
		give_up();
	else
		count_alarm(at, own, seen, bell);
}

/* The kernel adds to the bell and wakes in one call.  It fails where the page is gone. */
void tr2_page_wake(const uint32_t *own)
{
	struct tlg_ctl *at = page();
	int saved = errno;

	if (!at || tr2_sys_futex_ring(&at->bell) < 0)
		tr2_futex_wake(own, INT_MAX);
	errno = saved;
}

/* ---- commands ----------------------------------------------------------------------------------- */

int tr2_page_is_asked(void)
{
	struct tlg_ctl *at = page();

	return at && is_there(at) && tr2_load_rlx(&at->asked) != g_page.answered; /* relaxed: take() orders it */
}

int tr2_page_take(struct tr2_asked *asked)
{
	struct tlg_ctl *at = page();
	uint32_t bytes;

	if (!at || !is_there(at))
		return 0;
	asked->number = tr2_load_acq(&at->asked); /* [M23] acquire: the command.  Pairs with t2x_ctl_page.c */
	if (asked->number == g_page.answered)
		return 0;
	bytes = tr2_load_rlx(&at->command_bytes); /* relaxed: ordered by the number; bounded below */
	asked->nwords = -1;
	if (bytes <= TLG_CTL_COMMAND) {
		memcpy(asked->text, at->command, bytes);
		asked->nwords = tlg_ctl_split(asked->text, bytes, asked->words);
	}
	if (asked->nwords > 0)
		return 1;
	tr2_page_answer(asked, TLG_CTL_ERROR, "this is no command");
	return 0;
}

void tr2_page_answer(const struct tr2_asked *asked, unsigned kind, const char *text)
{
	struct tlg_ctl *at = page();
	size_t bytes = strlen(text);
	int saved = errno;

	g_page.answered = asked->number;
	if (!at || !is_there(at))
		return;
	if (bytes > TLG_CTL_ANSWER)
		bytes = TLG_CTL_ANSWER;
	memcpy(at->answer, text, bytes);
	tr2_store_rlx(&at->answer_bytes, (uint32_t)bytes); /* relaxed: ordered by the number */
	tr2_store_rlx(&at->kind, kind); /* relaxed: as above */
	tr2_store_rel(&at->answered, asked->number); /* [M24] release: the answer.  Pairs with t2x_ctl_page.c */
	tr2_sys_futex(&at->answered, FUTEX_WAKE, INT_MAX, NULL);
	errno = saved;
}
