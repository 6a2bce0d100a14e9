/* SPDX-License-Identifier: MIT */
/*
 * tr2_env.h - the settings: environment variables with the program's prefix; for those not set, git's configuration,
 * if the program asks for that (tr2_config.h).
 */
#ifndef TR2_ENV_H
#define TR2_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What to do with a checkpoint when its thread's ring is full. */
enum tr2_policy {
	TR2_POLICY_DISCARD,       /* drop it */
	TR2_POLICY_BLOCK,         /* wait for the consumer thread, then drop it */
	TR2_POLICY_OVERWRITE,     /* drop the oldest instead; write snapshots only: tr2_overwrite.h */
};

/* When the consumer thread starts. */
enum tr2_thread_start {
	TR2_THREAD_AUTO,          /* when the process is no longer young, see drain/tr2_young.h */
	TR2_THREAD_INIT,          /* with tracing, in a forked child with its first event */
	TR2_THREAD_LATE,          /* when a ring needs its second chunk */
	TR2_THREAD_OFF,           /* never: a thread whose ring is full writes by itself */
};

/* What memory settings may ask for. */
#define TR2_MAX_MEMORY (sizeof(void *) < 8 ? (size_t)32 << 20 : (size_t)((uint64_t)8 << 30))

/* The settings; the table of tr2_env.c has their defaults and bounds, and says where each goes. */
struct tr2_settings {
	int dst_debug;            /* above 0: report why a destination is off, and which settings are wrong */
	pid_t reporter;           /* the only process that reports these; 0: each does, -1: none does */
	unsigned max_files;       /* in a directory, with "." and ".."; 0: no limit */
	int redact;               /* hide passwords in URLs */
	int brief[3];             /* of the normal, the performance and the event format */
	unsigned event_nesting;
	int raw_lz4;              /* compress */
	int raw_packed;           /* the encoding: 1 packed, 0 plain */
	enum tr2_policy policy;
	unsigned wait_ms;         /* bound of a wait under block */
	enum tr2_thread_start thread;
	unsigned flush_ms;        /* the consumer thread writes events before they are older */
	int is_flush_set;         /* flush_ms is set, and not the default */
	size_t cycle_bytes;       /* drained before a new cycle */
	size_t ring_bytes;        /* of a thread, at most; 0: all that there is */
	size_t memory_bytes;      /* of all threads together */
	const char *config_params;   /* patterns between commas; NULL: none */
};

/* The settings in force, once tr2_env_read() has read them. */
extern struct tr2_settings tr2_g_settings;

/* 1: the policy is overwrite, so rings hold the latest events, and only a snapshot writes them. */
static inline int tr2_is_flight_recorder(void)
{
	return tr2_g_settings.policy == TR2_POLICY_OVERWRITE;
}

/* The prefix of the variables.  At most 31 bytes are kept; NULL or "" changes nothing.  Before tr2_env_read(). */
void tr2_env_set_prefix(const char *prefix);

/*
 * The value of a setting: of the variable PREFIX_NAME unless it is unset or empty, else of its key in git's
 * configuration; NULL without either.  A program that runs with privileges which its caller does not have (setuid) has
 * no settings, so that its caller cannot have it traced.
 * name    "RAW"; "" for PREFIX itself
 * Return  "" can only come from the configuration    Signal safe
 */
const char *tr2_env_get(const char *name);

/*
 * A line of git's configuration: the last value of each key counts.  Other programs' keys and NULL change nothing.
 * key  "trace2.rawtarget"    Thread  before any other    Alloc malloc
 */
void tr2_env_configure(const char *key, const char *value);

/*
 * 1: no variable begins with the prefix, and nothing is configured: every setting is NULL.  An untraced program pays no
 * more than this look at each variable.  It calls no function of another library, whose first call would be costly.
 */
int tr2_env_is_empty(void);

/* The full name of a variable, "TRACE2_RAW".  buf has 64 bytes and is returned. */
const char *tr2_env_name(const char *name, char buf[64]);

/* 1: report on stderr why something does not work. */
int tr2_env_debug(void);

/*
 * Read all settings into tr2_g_settings.  An unknown value falls back to the default, one out of bounds to the nearest
 * bound; with DST_DEBUG a line reports that, and each variable with the prefix that is no setting.
 * Thread  before any other    Alloc none    Errno kept
 */
void tr2_env_read(void);

/*
 * Change a setting while the program runs: "flush=100ms" stands for PREFIX_RAW_FLUSH.  These can be changed: flush,
 * wait, cycle, ring; policy between discard and block; memory up to what it was at the start.
 * is_dry  1: only say whether that is possible    why  filled with what is wrong, of size bytes
 * Return  1; 0: nothing is changed    Thread  one at a time    Signal safe
 */
int tr2_env_change(const char *assignment, int is_dry, char *why, size_t size);

/* Tracing stays off.  With DST_DEBUG read the settings nevertheless: an error in them may be the reason. */
void tr2_env_check(void);

/* An unknown word in the list of a setting is ignored: with DST_DEBUG a line reports that.  Signal safe */
void tr2_env_pass_over(const char *name, const char *word);

/*
 * One line on stderr, "warning: " and the parts up to a NULL, cut to 512 bytes.  Errno kept.  Signal safe.
 * All of git's messages but one begin with "trace2: " then.
 */
void tr2_warn(const char *const *parts);
#define tr2_warning_without_name(...) tr2_warn((const char *const[]){ __VA_ARGS__, NULL })
#define tr2_warning(...) tr2_warning_without_name("trace2: ", __VA_ARGS__)

#endif
