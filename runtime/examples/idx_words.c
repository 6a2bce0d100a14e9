/* SPDX-License-Identifier: MIT */
/* An open hash table; the words that a top list keeps are a heap with the rarest on top. */
#include "idx_words.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

static uint32_t hash_text(const char *text, size_t length)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619U;
	return hash;
}

/* The slot that holds the word, or the free one where it belongs. */
static struct idx_word *find_slot(struct idx_word *slots, size_t capacity, uint32_t hash, const char *text,
				  size_t length)
{
	size_t i = hash & (capacity - 1);

	while (slots[i].count) {
		if (slots[i].hash == hash && slots[i].length == length && !memcmp(slots[i].text, text, length))
			break;
		i = (i + 1) & (capacity - 1);
	}
	return &slots[i];
}

/* Make room for one more word.  0: none can be made. */
static int grow_table(struct idx_words *words)
{
	size_t capacity = words->capacity ? words->capacity * 2 : FIRST_CAPACITY;
	struct idx_word *slots;

	if (words->used >= IDX_WORDS_MAX)
		return 0;
	if (words->used < words->capacity / 2)
		return 1;
	slots = calloc(capacity, sizeof(*slots));
	if (!slots)
		return 0;
	for (size_t i = 0; i < words->capacity; i++) {
		const struct idx_word *word = &words->slots[i];

		if (word->count)
			*find_slot(slots, capacity, word->hash, word->text, word->length) = *word;
	}
	free(words->slots);
	words->slots = slots;
	words->capacity = capacity;
	return 1;
}

void idx_words_add(struct idx_words *words, const char *text, size_t length, uint64_t count)
{
	struct idx_word *slot = NULL;
	uint32_t hash;

	if (length > IDX_WORD_BYTES)
		length = IDX_WORD_BYTES;
	hash = hash_text(text, length);
	if (words->capacity)
		slot = find_slot(words->slots, words->capacity, hash, text, length);
	if (slot && slot->count) {
		slot->count += count;
		return;
	}
	if (!grow_table(words)) {
		words->unlisted += count;
		return;
	}
	slot = find_slot(words->slots, words->capacity, hash, text, length);
	slot->count = count;
	slot->hash = hash;
	slot->length = (uint8_t)length;
	memcpy(slot->text, text, length);
	words->used++;
}

void idx_words_merge(struct idx_words *words, const struct idx_words *from)
{
	for (size_t i = 0; i < from->capacity; i++)
		if (from->slots[i].count)
			idx_words_add(words, from->slots[i].text, from->slots[i].length, from->slots[i].count);
	words->unlisted += from->unlisted;
}

/* Let the word at the top of the heap sink to its place. */
static void sink_top(const struct idx_word **heap, size_t count)
{
	const struct idx_word *word = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && heap[child + 1]->count < heap[child]->count)
			child++;
		if (heap[child]->count >= word->count)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = word;
}

/* Let a new word rise from the end of the heap to its place. */
static void rise_last(const struct idx_word **heap, size_t count)
{
	const struct idx_word *word = heap[count - 1];
	size_t at = count - 1;

	while (at > 0 && heap[(at - 1) / 2]->count > word->count) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = word;
}

size_t idx_words_top(const struct idx_words *words, const struct idx_word **top, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < words->capacity; i++) {
		const struct idx_word *word = &words->slots[i];

		if (!word->count)
			continue;
		if (count < room) {
			top[count++] = word;
			rise_last(top, count);
		} else if (room && word->count > top[0]->count) {
			top[0] = word;
			sink_top(top, count);
		}
	}
	return count;
}

void idx_words_free(struct idx_words *words)
{
	free(words->slots);
	memset(words, 0, sizeof(*words));
}
