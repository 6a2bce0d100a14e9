/* SPDX-License-Identifier: MIT */
/*
 * tr2_env.h - the settings: environment variables under the program's prefix, and behind them what git's
 * configuration says, if the program asks for that (tr2_config.h).
 */
#ifndef TR2_ENV_H
#define TR2_ENV_H

#include <stddef.h>
#include <stdint.h>

/* What becomes of a checkpoint whose thread's ring is full. */
enum tr2_policy {
	TR2_POLICY_DISCARD,       /* it is dropped */
	TR2_POLICY_BLOCK,         /* it waits for the drain, up to a bound, and only then is dropped */
	TR2_POLICY_OVERWRITE,     /* it takes the oldest's place; nothing is written unasked: tr2_snapshot.h */
};

/* That memory settings may ask for. */
#define TR2_MOST_MEMORY (sizeof(void *) < 8 ? (size_t)32 << 20 : (size_t)((uint64_t)8 << 30))

struct tr2_settings {
	int raw_lz4;              /* _RAW_LZ4: compress; default 1 */
	int raw_packed;           /* _RAW_ENCODING: "packed", default, or "plain" */
	size_t cycle_bytes;       /* _RAW_CYCLE: bytes drained before a new cycle; default 1 MiB */
	size_t ring_bytes;        /* _RAW_RING: of one thread; default 0: all, a flight recorder: 1.5 MiB */
	size_t memory_bytes;      /* _RAW_MEMORY: the same of all threads; default 64 MiB */
	enum tr2_policy policy;   /* _RAW_POLICY; default discard */
	unsigned wait_ms;         /* _RAW_WAIT: bound of a wait under block; default 1000 */
	int dst_debug;            /* _DST_DEBUG > 0: say why a destination is off */
	unsigned max_files;       /* _MAX_FILES in a directory, with "." and ".."; 0: no limit */
	int redact;               /* _REDACT: hide passwords in URLs; default 1 */
	const char *config_params;   /* _CONFIG_PARAMS: patterns between commas; NULL: none */
};

/* The settings in force, once tr2_env_read() has read them. */
extern struct tr2_settings tr2_g_settings;

/* The prefix of the variables.  At most 31 bytes are kept; NULL or "" changes nothing.  Before tr2_env_read(). */
void tr2_env_set_prefix(const char *prefix);

/*
 * The value of a setting: of the variable PREFIX_NAME unless it is unset or empty, else of its key in git's
 * configuration; NULL without either.  Nothing is traced on the caller's behalf when the program runs with
 * privileges that its caller does not have (setuid): then there are no settings.
 * name    "RAW"; "" for PREFIX itself
 * Return  "" can only come from the configuration    Signal safe
 */
const char *tr2_env_get(const char *name);

/*
 * Git's configuration says so: of each key the last value counts.  A key that is none of ours changes nothing,
 * nor does a NULL.
 * key  "trace2.rawtarget"    Thread  before any other    Alloc malloc
 */
void tr2_env_configure(const char *key, const char *value);

/*
 * 1: no variable begins with the prefix, and nothing is configured: every setting is NULL.  What a program pays that is
 * not traced: one look at each variable, and no function of another library, for the first call of each is looked up.
 */
int tr2_env_is_empty(void);

/* The full name of a variable, "TRACE2_RAW".  buf has 64 bytes and is returned. */
const char *tr2_env_name(const char *name, char buf[64]);

/* Git's boolean: true, yes, on, false, no, off, "", a number with k, m or g.  For NULL and all else: otherwise. */
int tr2_env_bool(const char *value, int otherwise);

/* 1: say on stderr why something does not work. */
int tr2_env_debug(void);

/* Read all settings into tr2_g_settings.  Bad values keep the default.  Thread  before any other    Alloc none */
void tr2_env_read(void);

/*
 * One line on stderr, "warning: " and the parts up to a NULL, cut to 512 bytes.  Errno kept.  Signal safe.
 * All of git's messages but one go on with "trace2: ".
 */
void tr2_warn(const char *const *parts);
#define tr2_warning_without_name(...) tr2_warn((const char *const[]){ __VA_ARGS__, NULL })
#define tr2_warning(...) tr2_warning_without_name("trace2: ", __VA_ARGS__)

#endif
