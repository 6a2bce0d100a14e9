/* SPDX-License-Identifier: MIT */
/*
 * tlg_ctl.h - the control page: how `t2 ctl` asks a running process for something, and gets the answer.
 *
 * A process that was started with TRACE2_CTL=1 has one page, in a file trace2-PID-ID.ctl beside its ring file.  Only
 * its user may open the file.  The page carries one command at a time:
 *
 *   1. The asker locks the file (flock(2)), so that askers come one behind the other.
 *   2. It writes the command, then `asked`, then adds 1 to `bell` and wakes the futex `bell`.
 *   3. The process's consumer thread copies the command.  It works for a while, then writes the answer and its kind,
 *      then `answered` = `asked`, and wakes the futex `answered`.
 *   4. The asker copies the answer.
 *
 * Each side takes the page for hostile: it reads each member once, checks bounds, and keeps what it relies on in memory
 * of its own.  A command is words with one blank between them; a blank or a backslash in a word stands behind a
 * backslash.  Neither side knows the other's version: an unknown word is answered with an error.
 */
#ifndef TLG_CTL_H
#define TLG_CTL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TLG_CTL_LAYOUT = 1,
	TLG_CTL_BYTES = 4096,             /* of the file */
	TLG_CTL_COMMAND = 1536,           /* bytes of a command at most */
	TLG_CTL_ANSWER = 2400,            /* of an answer */
	TLG_CTL_WORDS = 16,               /* words of a command */
};

#define TLG_CTL_MAGIC UINT64_C(0x6c74632d32637274)   /* "trc2-ctl" */

/*
 * Kinds of answers.  LATER: the command is accepted, and takes effect with the program's next call.
 * Their numbers are fixed; 0 is none.
 */
enum { TLG_CTL_DONE = 1, TLG_CTL_ERROR = 2, TLG_CTL_LATER = 3 };

struct tlg_ctl {
	uint64_t magic;
	uint32_t layout, bytes;
	uint32_t pid;                     /* in the process's own PID namespace */
	uint32_t bell;                    /* futex: the consumer thread sleeps on it */
	uint32_t asked;                   /* number of the latest command; 0: there was none */
	uint32_t answered;                /* futex: number of the latest command with an answer */
	uint32_t kind;                    /* of the answer: TLG_CTL_DONE, ... */
	uint32_t command_bytes, answer_bytes;
	uint32_t unused[5];
	char command[TLG_CTL_COMMAND];    /* no NUL at the end */
	char answer[TLG_CTL_ANSWER];
};

static_assert(sizeof(struct tlg_ctl) <= TLG_CTL_BYTES, "it is one page");
static_assert(offsetof(struct tlg_ctl, command) == 64, "other processes, of 32 bits too, find the members there");

/*
 * The words of a command, with backslashes removed, each ended by a NUL in text itself.
 * text    bytes of it, and one more that may be written to
 * Return  how many; -1: it is no command: a control character, a backslash at the end, too many words
 */
static inline int tlg_ctl_split(char *text, size_t bytes, const char *words[TLG_CTL_WORDS])
{
	size_t to = 0, from = 0;
	int n = 0;

	while (from < bytes) {
		if (n == TLG_CTL_WORDS)
			return -1;
		words[n++] = text + to;
		while (from < bytes && text[from] != ' ') {
			if (text[from] == '\\' && ++from == bytes)
				return -1;
			if ((unsigned char)text[from] < ' ' || text[from] == 127)
				return -1;
			text[to++] = text[from++];
		}
		if (from < bytes && ++from == bytes)
			return -1;   /* a blank at the end */
		text[to++] = '\0';
	}
	return n;
}

#endif
