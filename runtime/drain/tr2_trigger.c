/* SPDX-License-Identifier: MIT */
/* tr2_trigger.c - see tr2_trigger.h. */
#include "tr2_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

#include "tr2_cause.h"
#include "tr2_lock.h"
#include "tr2_watch.h"
#include "base/tr2_atomic.h"
#include "base/tr2_clock.h"
#include "base/tr2_fd.h"
#include "base/tr2_memory.h"
#include "base/tr2_sandbox.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

enum {
	BUSY_MS = 32,             /* from one look to the next, while something is recorded ... */
	IDLE_MS = 256,            /* ... and if nothing was for a second */
	MEMORY_MS = 100,          /* from one look at the size of the process to the next */
};

static struct trigger {
	int is_on;                /* there are rules */
	uint64_t lost;            /* checkpoints, at the last look */
	uint64_t next[TR2_RULES]; /* raw clock: every, memory: not before */
	uint64_t peak[TR2_RULES]; /* memory: bytes, at the last cause */
	uint64_t seen_at;         /* raw clock: a look has found events */
	uint64_t due;             /* raw clock: the next look; 0: none is needed */
	int statm;                /* a descriptor of /proc/self/statm, + 1; 0: none */
	struct tr2_fd_identity is_statm;
} g_trigger;

static struct { uint32_t is_ending; int exit_code; } g_end;   /* the process ends, or executes another program */

TR2_LARGE static struct tr2_rules g_rules;

int tr2_trigger_is_on(void)
{
	return tr2_load_rlx(&g_trigger.is_on); /* relaxed: a hint */
}

/* ---- the size of the process --------------------------------------------------------------------- */

static void close_statm(void)
{
	if (g_trigger.statm && tr2_fd_is(g_trigger.statm - 1, &g_trigger.is_statm))
		tr2_sys_close(g_trigger.statm - 1);
	g_trigger.statm = 0;
}

static int open_statm(void)
{
	int fd = tr2_fd_move_away(tr2_sys_open("/proc/self/statm", O_RDONLY | O_CLOEXEC, 0));

	if (fd < 0)
		return -errno;
	g_trigger.is_statm = tr2_fd_identify(fd);
	g_trigger.statm = fd + 1;
	return 0;
}

/* The second number is the resident pages.  Return  bytes; 0: not known */
static uint64_t read_size(void)
{
	const int fd = g_trigger.statm - 1;
	char line[128];
	ssize_t n;
	uint64_t pages = 0;
	const char *at;

	if (fd < 0 || tr2_sandbox_has_begun() || !tr2_fd_is(fd, &g_trigger.is_statm))
		return 0;
	n = tr2_sys_pread(fd, line, sizeof(line) - 1, 0);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	at = strchr(line, ' ');
	for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		pages = pages * 10 + (uint64_t)(*at - '0');
	return pages * getauxval(AT_PAGESZ);
}

/* ---- beginning ---------------------------------------------------------------------------------- */

static uint64_t count_lost(void)
{
	uint64_t lost = 0;
	struct tlg_loss loss;

	for (unsigned i = 0, bound = tr2_losses_bound(); i < bound; i++)
		if (tr2_losses_get(i, &loss) && loss.reason != TLG_LOSS_OVERWRITTEN && loss.reason != TLG_LOSS_OFF)
			lost += loss.count;
	return lost;
}

static void begin(void)
{
	const uint64_t now = tr2_clock_raw();

	g_trigger.lost = tr2_g_shm.head ? count_lost() : 0;
	g_trigger.seen_at = now;
	tr2_store_rlx(&g_trigger.due, now); /* relaxed: a time by itself */
	for (unsigned i = 0; i < g_rules.n; i++) {
		g_trigger.peak[i] = 0;
		g_trigger.next[i] = now;
		if (g_rules.rule[i].kind == TR2_RULE_EVERY)
			g_trigger.next[i] += tr2_clock_ticks((uint64_t)g_rules.rule[i].bound);
	}
}

/* The size is read through a descriptor from the start of the process, for the consumer thread opens none. */
static int set_rules(const struct tr2_rules *rules, int opens)
{
	int error = 0;

	if (tr2_rules_find(rules, TR2_RULE_MEMORY) && !g_trigger.statm)
		error = opens ? open_statm() : -EPERM;
	if (error)
		return error;
	tr2_store_rlx(&g_trigger.is_on, 0); /* relaxed: a hint */
	g_rules = *rules;
	if (rules->n)
		error = tr2_watch_begin(&g_rules);
	if (error) {
		g_rules.n = 0;
		return error;
	}
	tr2_cause_begin(&g_rules);
	begin();
	tr2_store_rlx(&g_trigger.is_on, rules->n != 0); /* relaxed: a hint */
	return 0;
}

int tr2_trigger_set(const struct tr2_rules *rules, int opens)
{
	int error = -EBUSY;

	if (tr2_lock_briefly()) {
		error = set_rules(rules, opens);
		tr2_lock_release();
	}
	return error;
}

void tr2_trigger_reset(void)
{
	if (!tr2_trigger_is_on())
		return;
	close_statm();
	if (tr2_rules_find(&g_rules, TR2_RULE_MEMORY))
		open_statm();   /* of the child; without it, the rule finds nothing */
	tr2_watch_reset();
	tr2_cause_reset();
	begin();
}

void tr2_trigger_end(int exit_code)
{
	tr2_store_rlx(&g_end.exit_code, exit_code); /* relaxed: the same thread, or the lock, orders it */
	tr2_store_rlx(&g_end.is_ending, 1); /* relaxed: as above */
}

/* ---- looks at the process ------------------------------------------------------------------------ */

static struct tr2_text begin_text(char text[TR2_CAUSE_TEXT], const struct tr2_rule *rule)
{
	struct tr2_text to = tr2_text_begin(text, TR2_CAUSE_TEXT);

	tr2_text_add(&to, rule->text);
	return to;
}

static void judge_lost(const struct tr2_rule *rule, uint64_t now)
{
	uint64_t lost = count_lost();
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to = begin_text(text, rule);

	if (lost <= g_trigger.lost)
		return;
	tr2_text_add(&to, ": ");
	tr2_text_decimal(&to, lost - g_trigger.lost, 1);
	tr2_text_add(&to, " checkpoints");
	g_trigger.lost = lost;
	tr2_cause_add(TR2_CAUSE_NEW, now, now, text);
}

/* The next cause is a peak that is a tenth higher. */
static void judge_memory(unsigned i, uint64_t now)
{
	const struct tr2_rule *rule = &g_rules.rule[i];
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to;
	uint64_t bytes;

	if (now < g_trigger.next[i])
		return;
	g_trigger.next[i] = now + tr2_clock_ticks(MEMORY_MS * UINT64_C(1000000));
	bytes = read_size();
	if (bytes <= (uint64_t)rule->bound || bytes <= g_trigger.peak[i] + g_trigger.peak[i] / 10)
		return;
	g_trigger.peak[i] = bytes;
	to = begin_text(text, rule);
	tr2_text_add(&to, ": ");
	tr2_text_decimal(&to, bytes >> 10, 1);
	tr2_text_add(&to, " KiB resident");
	tr2_cause_add(TR2_CAUSE_NEW, now, now, text);
}

static void judge_time(unsigned i, uint64_t now)
{
	const struct tr2_rule *rule = &g_rules.rule[i];
	const uint64_t interval = tr2_clock_ticks((uint64_t)rule->bound);

	if (now < g_trigger.next[i])
		return;
	g_trigger.next[i] += (now - g_trigger.next[i]) / interval * interval + interval;
	tr2_cause_add(TR2_CAUSE_NEW, now, now, rule->text);
}

static void judge_end(const struct tr2_rule *rule, uint64_t now)
{
	const int code = tr2_load_rlx(&g_end.exit_code); /* relaxed: as in tr2_trigger_end() */
	char text[TR2_CAUSE_TEXT];
	struct tr2_text to = begin_text(text, rule);

	if (rule->kind == TR2_RULE_EXIT_CODE && !code)
		return;
	tr2_text_add(&to, code < 0 ? ": exit code -" : ": exit code ");
	tr2_text_decimal(&to, code < 0 ? -(uint64_t)code : (uint64_t)code, 1);
	tr2_cause_add(TR2_CAUSE_LAST, now, now, text);
}

static void judge_process(unsigned i, uint64_t now, int is_ending)
{
	switch (g_rules.rule[i].kind) {
	case TR2_RULE_LOST:
		judge_lost(&g_rules.rule[i], now);
		break;
	case TR2_RULE_MEMORY:
		judge_memory(i, now);
		break;
	case TR2_RULE_EVERY:
		judge_time(i, now);
		break;
	case TR2_RULE_EXIT:
	case TR2_RULE_EXIT_CODE:
		if (is_ending)
			judge_end(&g_rules.rule[i], now);
		break;
	default:
		break;
	}
}

/* ---- when -------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* ns until rules for the process have to be judged; UINT64_MAX: there are none */
static uint64_t find_next(uint64_t now)
{
	uint64_t ns = UINT64_MAX;

	for (unsigned i = 0; i < g_rules.n; i++) {
		if (g_rules.rule[i].kind != TR2_RULE_EVERY && g_rules.rule[i].kind != TR2_RULE_MEMORY)
			continue;
		ns = least(ns, g_trigger.next[i] > now ? tr2_clock_ns(g_trigger.next[i] - now) + 1 : 1);
	}
	return ns;
}

static void set_due(uint64_t now)
{
	uint64_t ns = least(find_next(now), tr2_watch_wait_ns(now)), window = tr2_cause_wait_ns(now);

	if (window)
		ns = least(ns, window);
	if (tr2_rules_watch(&g_rules))
		ns = least(ns, (now - g_trigger.seen_at < tr2_clock_ticks(1000000000) ? BUSY_MS : IDLE_MS) * 1000000);
	/* relaxed: a time by itself */
	tr2_store_rlx(&g_trigger.due, ns == UINT64_MAX ? 0 : now + tr2_clock_ticks(ns));
}

unsigned tr2_trigger_sleep_ms(void)
{
	const uint64_t due = tr2_load_rlx(&g_trigger.due), now = tr2_clock_raw(); /* relaxed: as in set_due() */

	if (!tr2_trigger_is_on() || !due)
		return 0;
	return due > now ? (unsigned)(tr2_clock_ns(due - now) / 1000000) + 1 : 1;
}

int tr2_trigger_look(void)
{
	const uint64_t now = tr2_clock_raw();
	int is_ending;
	uint64_t seen;

	if (!tr2_trigger_is_on() || !tr2_g_shm.head)
		return 0;
	is_ending = (int)tr2_exchange_rlx(&g_end.is_ending, 0); /* relaxed: as in tr2_trigger_end() */
	tr2_cause_request(now);   /* a window that has ended takes nothing more */
	seen = tr2_watch_look(now);
	for (unsigned i = 0; i < g_rules.n; i++)
		judge_process(i, now, is_ending);
	tr2_cause_request(tr2_clock_raw());
	if (seen)
		g_trigger.seen_at = now;
	set_due(tr2_clock_raw());
	return seen != 0;
}

/* ---- saying what is in force --------------------------------------------------------------------- */

void tr2_trigger_put(struct tr2_text *to)
{
	tr2_text_add(to, "triggers: ");
	for (unsigned i = 0; i < g_rules.n; i++) {
		tr2_text_add(to, i ? " " : "");
		tr2_text_add(to, g_rules.rule[i].text);
	}
	tr2_text_add(to, g_rules.n ? "\nsnapshots by triggers: " : "none\nsnapshots by triggers: ");
	tr2_text_decimal(to, tr2_cause_snapshots(), 1);
	tr2_text_add(to, "\nkept back by modifiers: ");
	tr2_text_decimal(to, tr2_cause_kept_back(), 1);
	tr2_text_add(to, "\nlooks that came too late: ");
	tr2_text_decimal(to, tr2_watch_missed(), 1);
}

void tr2_trigger_report(struct tr2_text *to)
{
	if (tr2_lock_briefly()) {
		tr2_trigger_put(to);
		tr2_lock_release();
	}
}
