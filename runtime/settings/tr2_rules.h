/* SPDX-License-Identifier: MIT */
/*
 * tr2_rules.h - parses what triggers a snapshot: the words of PREFIX_RAW_SNAPSHOT and of `t2 ctl trigger`.
 *
 * A rule names a condition, such as "slow:db/query>500ms".  A modifier holds for all rules of the list: "max:20",
 * "quiet:10s", "window:2s,200ms".  Other words may be signals, of which this module knows nothing.
 *
 *   slow:CATEGORY/LABEL>500ms    a region takes longer; also while it is still open
 *   p99:CATEGORY/LABEL>3x        a region takes so many times the 99th percentile of the last hour
 *   rate:CATEGORY/LABEL>1000/s   so many of these checkpoints come in a second
 *   value:CATEGORY/KEY>N         a number is recorded that is larger
 *   error  exit  exit!=0  lost  memory>N  every:60s
 *
 * CATEGORY, LABEL and KEY are patterns of tr2_wildmatch().  A word comes from outside and may be anything.
 * Thread  any; a list belongs to its caller    Signal safe
 */
#ifndef TR2_RULES_H
#define TR2_RULES_H

#include <stddef.h>
#include <stdint.h>

enum {
	TR2_RULES = 16,           /* of a list */
	TR2_RULE_WORD = 160,      /* bytes of a word, with its NUL */
	TR2_RULES_MAX = 100,      /* snapshots of all rules together, unless a modifier says otherwise */
};

enum tr2_rule_kind {
	TR2_RULE_SLOW, TR2_RULE_P99, TR2_RULE_RATE, TR2_RULE_VALUE,   /* these look at events */
	TR2_RULE_LOST, TR2_RULE_MEMORY, TR2_RULE_EVERY,               /* these at the process, now and then */
	TR2_RULE_ERROR, TR2_RULE_EXIT, TR2_RULE_EXIT_CODE,            /* these are found by calls of the program, too */
};

struct tr2_rule {
	enum tr2_rule_kind kind;
	int64_t bound;            /* ns; thousandths; a second; the value; bytes; ns */
	char text[TR2_RULE_WORD]; /* the word */
	char category[TR2_RULE_WORD], label[TR2_RULE_WORD];   /* patterns */
};

struct tr2_rules {
	unsigned n;
	struct tr2_rule rule[TR2_RULES];
	uint64_t max;             /* snapshots */
	uint64_t quiet_ns;        /* after one */
	int has_window;           /* 0: all that memory has */
	uint64_t before_ns, after_ns;
	int is_modified;          /* there is a modifier */
};

/* An empty list. */
void tr2_rules_begin(struct tr2_rules *rules);

/*
 * Copy the next word of a list, words between commas or blanks, and step behind it.  "window:2s,200ms" is one word.
 * Return  0: there is none.  A word that is too long is cut, and is no rule then
 */
int tr2_rules_next_word(const char **list, char word[TR2_RULE_WORD]);

/* Add a word.  why  of a BAD one: what is wrong with it.  OTHER: it is neither a rule nor a modifier */
enum tr2_word { TR2_WORD_ADDED, TR2_WORD_BAD, TR2_WORD_OTHER };
enum tr2_word tr2_rules_add(struct tr2_rules *rules, const char *word, const char **why);

/* 1 if a rule needs looks at events or at the process, and calls of the program do not find it. */
int tr2_rules_watch(const struct tr2_rules *rules);

/* The first rule of this kind; NULL: there is none. */
const struct tr2_rule *tr2_rules_find(const struct tr2_rules *rules, enum tr2_rule_kind kind);

/* 1 if the rule's patterns match. */
int tr2_rule_matches(const struct tr2_rule *rule, const char *category, const char *label);

#endif
