/* SPDX-License-Identifier: MIT */
/* t2x_frames.c - see t2x_frames.h. */
#include "t2x_frames.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_FRAMES = 64 };

/* A frame, and behind it the bytes of its three texts. */
static struct t2x_frame *make_frame(const char *category, const char *label, const struct t2x_scope *scope)
{
	const char *file = scope->file ? scope->file : "";
	size_t categories = strlen(category) + 1, labels = strlen(label) + 1, files = strlen(file) + 1;
	struct t2x_frame *frame = malloc(sizeof(*frame) + categories + labels + files);
	char *text = (char *)(frame + 1);

	if (!frame)
		return NULL;
	*frame = (struct t2x_frame){ .line = scope->line };
	frame->category = memcpy(text, category, categories);
	frame->label = memcpy(text + categories, label, labels);
	frame->file = memcpy(text + categories + labels, file, files);
	return frame;
}

/* About what it takes, its places in the tables included. */
static size_t bytes_of(const struct t2x_frame *frame)
{
	size_t texts = strlen(frame->category) + strlen(frame->label) + strlen(frame->file);

	return sizeof(*frame) + texts + frame->length + 64;
}

static void free_frame(struct t2x_frame *frame)
{
	if (!frame)
		return;
	free(frame->text);
	free(frame->other_file);
	free(frame);
}

static int make_room(struct t2x_frames *frames)
{
	uint32_t max = frames->max ? 2 * frames->max : FIRST_FRAMES;
	struct t2x_frame **grown;

	if (frames->count < frames->max)
		return 1;
	grown = realloc(frames->frames, max * sizeof(grown[0]));
	if (!grown)
		return 0;
	frames->frames = grown;
	frames->max = max;
	return 1;
}

static struct t2x_frame *add_frame(struct t2x_frames *frames, const char *category, const char *label,
				   const struct t2x_scope *scope, uint32_t hash)
{
	struct t2x_frame *frame = make_room(frames) ? make_frame(category, label, scope) : NULL;
	const int needs_text = frames->make_text && !(frames->spares_texts && frames->bytes > frames->max_bytes / 2);

	if (!frame)
		return NULL;
	frame->number = frames->count + 1;
	frame->hash = hash;
	if (frames->thread) {
		frame->first_ns = frames->now_ns;
		frame->stream = frames->thread->process->stream;
		frame->tid = frames->thread->tid;
	}
	if (needs_text)
		frame->text = frames->make_text(frame, &frame->length);
	if ((needs_text && !frame->text) || t2x_index_add(&frames->index, hash, frame->number)) {
		free_frame(frame);
		return NULL;
	}
	frames->frames[frames->count++] = frame;
	frames->bytes += bytes_of(frame);
	return frame;
}

static int is_place(const struct t2x_frame *frame, const char *file, int line)
{
	return frame->line == line && strcmp(frame->file, file ? file : "") == 0;
}

static const struct t2x_scope other_names = { .category = "trace2", .label = "other names" };

const struct t2x_frame *t2x_frames_find(struct t2x_frames *frames, const struct t2x_scope *scope)
{
	const char *category = scope->category ? scope->category : "";
	const char *label = scope->label ? scope->label : *category ? category : "?";
	uint64_t seed = t2x_index_hash(t2x_index_seed(), category, strlen(category));
	uint32_t hash = (uint32_t)t2x_index_hash(seed, label, strlen(label)), number;
	struct t2x_index_search search = t2x_index_begin(hash);
	struct t2x_frame *frame = NULL;

	while (!frame && (number = t2x_index_next(&frames->index, &search))) {
		frame = frames->frames[number - 1];
		if (strcmp(frame->category, category) != 0 || strcmp(frame->label, label) != 0)
			frame = NULL;
	}
	/* streams do not come in the order of time: one begins when another one is over, or in the middle of it */
	if (frame && frames->thread && frame->stream != frames->thread->process->stream)
		frames->is_ambiguous |= !is_place(frame, scope->file, scope->line);
	if (!frame && frames->max_bytes && frames->bytes >= frames->max_bytes && scope != &other_names) {
		frames->others++;
		frames->refused += strlen(category) + strlen(label) + sizeof(*frame);
		return t2x_frames_find(frames, &other_names);
	}
	if (!frame)
		frame = add_frame(frames, category, label, scope, hash);
	if (frame && scope->number) {
		frames->cache[scope->number % T2X_FRAMES_CACHED].scope = scope->number;
		frames->cache[scope->number % T2X_FRAMES_CACHED].frame = frame;
	}
	return frame;
}

/* Return  0: no memory */
static int move(struct t2x_frame *frame, const struct t2x_frame *to)
{
	char *file = strdup(to->file);

	if (!file)
		return 0;
	free(frame->other_file);
	frame->file = frame->other_file = file;
	frame->line = to->line;
	return 1;
}

const struct t2x_frame *t2x_frames_join(struct t2x_frames *frames, const struct t2x_frame *other)
{
	const struct t2x_scope names = {
		.category = other->category, .label = other->label, .file = other->file, .line = other->line,
	};
	uint32_t count = frames->count;
	struct t2x_frame *frame = (struct t2x_frame *)(uintptr_t)t2x_frames_find(frames, &names);

	if (!frame)
		return NULL;
	if (frames->count == count && !is_place(frame, other->file, other->line)) {
		frames->needs_order = 1;
		frames->is_ambiguous |= frame->stream != other->stream ||
					(frame->first_ns == other->first_ns && frame->tid != other->tid);
		if (other->first_ns < frame->first_ns && !move(frame, other))
			return NULL;
	}
	if (frames->count > count || other->first_ns < frame->first_ns) {
		frame->first_ns = other->first_ns;
		frame->stream = other->stream;
		frame->tid = other->tid;
	}
	return frame;
}

int t2x_frames_forget_unused(struct t2x_frames *frames)
{
	struct t2x_index index = { .slots = NULL };
	uint32_t used = 0;

	for (uint32_t i = 0; i < frames->count; i++)
		if (frames->frames[i]->is_used && t2x_index_add(&index, frames->frames[i]->hash, ++used)) {
			t2x_index_free(&index);
			return 0;
		}
	used = 0;
	for (uint32_t i = 0; i < frames->count; i++) {
		struct t2x_frame *frame = frames->frames[i];

		if (!frame->is_used) {
			frames->bytes -= bytes_of(frame);
			free_frame(frame);
			continue;
		}
		frame->is_used = 0;
		frames->frames[used++] = frame;
		frame->number = used;
	}
	frames->count = used;
	frames->refused = 0;
	t2x_index_free(&frames->index);
	frames->index = index;
	memset(frames->cache, 0, sizeof(frames->cache));
	return 1;
}

void t2x_frames_free(struct t2x_frames *frames)
{
	for (uint32_t i = 0; i < frames->count; i++)
		free_frame(frames->frames[i]);
	free(frames->frames);
	t2x_index_free(&frames->index);
}
