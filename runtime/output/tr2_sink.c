/* SPDX-License-Identifier: MIT */
/* tr2_sink.c - the raw target, and the live text outputs beside it. */
#include "tr2_sink.h"

#include <errno.h>

#include "tr2_dst.h"
#include "tr2_encode.h"
#include "tr2_frame.h"
#include "tr2_live.h"
#include "base/tr2_memory.h"
#include "base/tr2_text.h"
#include "settings/tr2_env.h"
#include "settings/tr2_sid.h"

enum { DGRAM_BYTES = 32768 };          /* in one datagram, before they are compressed */

/* What is always used comes first: a page that is never touched costs nothing. */
TR2_LARGE static struct sink {
	uint32_t stream, frames;
	int has_next;
	int is_framed;                 /* the raw target gets LZ4 frames */
	struct tr2_dst dst, next;
} g_sink;

TR2_STARTUP int tr2_sink_is_wanted(void)
{
	static const char *const targets[] = { "RAW", "", "PERF", "EVENT" };

	if (tr2_env_is_empty())
		return 0;
	for (int i = 0; i < 4; i++)
		if (!tr2_dst_is_off(tr2_env_get(targets[i])))
			return 1;
	return 0;
}

/* Readers take a file for what its first bytes are: appending to one goes on in its encoding, and so do later files. */
static int is_framed(const struct tr2_dst *dst)
{
	unsigned char begin[4];

	if (dst->own || (dst->is_regular && !dst->good) || !tr2_fd_begin(dst->fd, dst->path, begin, sizeof(begin)))
		return tr2_g_settings.raw_lz4;
	return tr2_frame_is(begin);
}

int tr2_sink_open(const char *name)
{
	const struct tr2_dst_rules texts_rules = {
		.max_files = tr2_g_settings.max_files, .debug = tr2_g_settings.dst_debug, .is_git_s = 1
	};
	/* Where nothing asks for words a user sees them all the same, once: not from each process that is started */
	const struct tr2_dst_rules rules = {
		.max_files = tr2_g_settings.max_files, .debug = tr2_g_settings.dst_debug,
		.is_for_terminal = tr2_sid_is_first()
	};
	char variable[64], file[128];
	struct tr2_text text = tr2_text_begin(file, sizeof(file));
	int texts = tr2_live_open(name, &texts_rules);
	int error;

	tr2_text_add(&text, name);
	tr2_text_add(&text, ".tlg");
	error = tr2_dst_open(&g_sink.dst, tr2_env_name("RAW", variable), tr2_env_get("RAW"), file, &rules);
	g_sink.is_framed = !error && is_framed(&g_sink.dst);
	return texts ? 0 : error;
}

int tr2_sink_open_late(const char *name, const char *path)
{
	const struct tr2_dst_rules rules = { .max_files = tr2_g_settings.max_files };
	char variable[64], file[128];
	struct tr2_text text = tr2_text_begin(file, sizeof(file));

	tr2_text_add(&text, name);
	tr2_text_add(&text, ".tlg");
	errno = 0;
	if (*path != '/' || tr2_dst_open(&g_sink.dst, tr2_env_name("RAW", variable), path, file, &rules))
		return -ENOENT;
	g_sink.is_framed = is_framed(&g_sink.dst);
	return 0;
}

int tr2_sink_is_sentinel(void)
{
	int event = tr2_live_is_sentinel();

	return event < 0 ? g_sink.dst.is_sentinel : event;
}

int tr2_sink_inherit(void)
{
	int texts = tr2_live_inherit();

	if (g_sink.has_next && g_sink.next.fd != g_sink.dst.fd)
		tr2_dst_close(&g_sink.next);   /* the parent's, to go on in */
	g_sink.has_next = 0;
	return tr2_dst_inherit(&g_sink.dst) && !texts ? -1 : 0;
}

int tr2_sink_init(void)
{
	int error = g_sink.is_framed ? tr2_frame_init() : 0;

	return error ? error : tr2_encode_init();
}

void tr2_sink_begin_stream(uint32_t stream)
{
	g_sink.stream = stream;
	g_sink.frames = 0;
}

void tr2_sink_file(char *path, size_t size, uint64_t *device, uint64_t *inode)
{
	if (tr2_dst_file(&g_sink.dst, path, size, device, inode))
		*path = '\0';
}

/*
 * Encoded blocks, as a frame or as they are.  *stored: bytes of them that are there, also when that fails: nothing can
 * be read of a frame that is cut off.
 */
static int write_frame(const void *encoded, size_t bytes, int is_fast, size_t *stored)
{
	size_t framed;
	const void *frame;
	int error;

	if (!g_sink.is_framed)
		return tr2_dst_write(&g_sink.dst, encoded, bytes, stored);
	frame = tr2_frame_make(encoded, bytes, g_sink.stream, ++g_sink.frames, is_fast, &framed);
	error = tr2_dst_write(&g_sink.dst, frame, framed, NULL);
	*stored = error ? 0 : bytes;
	return error;
}

/* Bytes of the blocks that were encoded into so many bytes: of those that are whole there. */
static size_t whole_blocks(const struct tlg_event *blocks, const struct tlg_event *encoded, size_t bytes)
{
	size_t at = 0, there = bytes / sizeof(*encoded);

	while (there && there >= encoded->u.block.size + 1u) {
		size_t entries = encoded->u.block.size + 1u;
		there -= entries;
		encoded += entries;
		at += blocks[at].u.block.size + 1u;
	}
	return at * sizeof(*blocks);
}

int tr2_sink_write(struct tlg_event *blocks, size_t bytes, size_t room, int is_fast, size_t *stored)
{
	size_t limit = g_sink.dst.kind == TR2_DST_DGRAM ? DGRAM_BYTES : TLG_FRAME_BYTES;
	size_t end = g_sink.dst.kind == TR2_DST_OFF ? 0 : bytes;
	int error = 0;

	g_sink.dst.room = room;
	*stored = 0;
	while (*stored < end && !error) {
		struct tlg_event *first = blocks + *stored / sizeof(*blocks);
		size_t n = end - *stored, encoded, done;
		const void *data = tr2_encode(first, &n, limit, g_sink.stream, &encoded);
		error = write_frame(data, encoded, is_fast, &done);
		*stored += error ? whole_blocks(first, data, done) : n;
	}
	if (!error)
		*stored = bytes;
	tr2_live_write(blocks, bytes, g_sink.stream);
	return error;
}

int tr2_sink_open_next(void)
{
	int error = tr2_dst_open_next(&g_sink.dst, &g_sink.next);

	g_sink.has_next = !error;
	return error;
}

int tr2_sink_has_next(void)
{
	return g_sink.has_next;
}

void tr2_sink_go_on(void)
{
	if (!g_sink.has_next)
		return;
	if (g_sink.next.fd != g_sink.dst.fd)
		tr2_dst_close(&g_sink.dst);
	g_sink.dst = g_sink.next;
	g_sink.has_next = 0;
}

int tr2_sink_takes_now(void)
{
	return tr2_dst_takes_now(&g_sink.dst);
}

int tr2_sink_lacks_files(void)
{
	return tr2_dst_lacks_file(&g_sink.dst) || tr2_live_lacks_files();
}

int tr2_sink_open_again(void)
{
	tr2_dst_open_again(&g_sink.dst);
	tr2_live_open_again();
	if (g_sink.dst.is_missing && (tr2_live_is_on() || tr2_is_flight_recorder()))
		tr2_sink_give_up();
	return !g_sink.dst.is_missing;
}

void tr2_sink_give_up(void)
{
	g_sink.dst.is_gone = 1;
	g_sink.dst.is_missing = 0;
}

int tr2_sink_has_texts(void)
{
	return tr2_live_is_on();
}

int tr2_sink_has_only_files(void)
{
	return tr2_dst_is_file(&g_sink.dst) && tr2_live_has_only_files();
}

void tr2_sink_close(void)
{
	tr2_live_close();
	tr2_dst_close(&g_sink.dst);
}

void tr2_sink_drop_texts(void)
{
	tr2_live_reset();
}

void tr2_sink_reset(void)
{
	tr2_live_reset();
	tr2_dst_close(&g_sink.dst);
}
