/* SPDX-License-Identifier: MIT */
/*
 * idx_words.h - how often each word occurs.
 *
 * One table belongs to one thread.  It grows to IDX_WORDS_MAX distinct words (64 MiB); occurrences of words
 * that no longer fit are counted together.
 */
#ifndef IDX_WORDS_H
#define IDX_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum {
	IDX_WORD_BYTES = 51,             /* longer words count as their first 51 bytes */
	IDX_WORDS_MAX = 1 << 19
};

struct idx_word {
	uint64_t count;                  /* 0: the slot is free */
	uint32_t hash;
	uint8_t length;
	char text[IDX_WORD_BYTES];       /* not NUL-terminated */
};

/* All zero is an empty table. */
struct idx_words {
	struct idx_word *slots;
	size_t capacity;                 /* a power of two, at least twice `used`; 0: none yet */
	size_t used;
	uint64_t unlisted;               /* occurrences of words that did not fit */
};

/* Count `count` (> 0) more occurrences of a word. */
void idx_words_add(struct idx_words *words, const char *text, size_t length, uint64_t count);

/* Add all that `from` has counted. */
void idx_words_merge(struct idx_words *words, const struct idx_words *from);

/* Put the most frequent words into top[0..room), in no particular order.  Return their number. */
size_t idx_words_top(const struct idx_words *words, const struct idx_word **top, size_t room);

void idx_words_free(struct idx_words *words);

#endif
