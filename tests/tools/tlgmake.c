/* SPDX-License-Identifier: MIT */
/* tlgmake.c - see tlgmake.h. */
#include "tlgmake.h"

#include <lz4frame.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tlg_block.h"
#include "tlg_crc.h"
#include "tlg_desc.h"

enum { MARK_BYTES = 24 };

static void die(const char *what)
{
	perror(what);
	abort();
}

void tlgmake_init(struct tlgmake *make, uint32_t stream, unsigned pid)
{
	memset(make, 0, sizeof(*make));
	make->stream = stream;
	make->pid = pid;
	make->sid = "sid";
	make->hierarchy = "";
}

void tlgmake_free(struct tlgmake *make)
{
	free(make->bytes);
	make->bytes = NULL;
	make->n = make->max = 0;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

void tlgmake_begin(struct tlgmake *make, uint32_t tid)
{
	make->tid = tid;
	make->count = 0;
}

void tlgmake_seal(struct tlgmake *make)
{
	static struct tlg_event packed[TLG_BLOCK_LIMIT + 1];
	const struct tlg_event *block = packed;
	size_t n = 0;

	if (!make->count)
		return;
	tlg_block_seal(make->block, make->stream, make->pid, ++make->number, make->tid, make->count);
	if (make->is_packed)
		n = tlg_block_pack(make->block, make->stream, packed) * sizeof(*packed);
	if (!n) {
		block = make->block;
		n = (make->count + 1u) * sizeof(*block);
	}
	if (make->n + n > make->max) {
		make->max = 2 * (make->n + n);
		make->bytes = realloc(make->bytes, make->max);
		if (!make->bytes)
			die("tlgmake");
	}
	memcpy(make->bytes + make->n, block, n);
	make->n += n;
	make->count = 0;
}

struct tlg_event *tlgmake_add(struct tlgmake *make, unsigned flags, uint32_t sequence)
{
	struct tlg_event *event = &make->block[1 + make->count++];

	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)(flags | (make->cycle << TLG_CYCLE_SHIFT & TLG_CYCLE_MASK));
	event->pid = (uint16_t)make->pid;
	event->sequence = sequence;
	return event;
}

void tlgmake_text(struct tlgmake *make, uint32_t sequence, const char *text, size_t n)
{
	while (n) {
		size_t part = n < TLG_TEXT_SIZE ? n : TLG_TEXT_SIZE;
		struct tlg_event *event =
			tlgmake_add(make, TLG_INFO | (part == n ? TLG_INFO_END : 0), sequence);
		memcpy(event->u.info.text.c, text, part);
		text += part;
		n -= part;
	}
}

/* ---- the process -------------------------------------------------------------------------------- */

void tlgmake_cycle(struct tlgmake *make)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%c%s", make->sid, 0, make->hierarchy);

	make->cycle++;
	tlgmake_begin(make, TLG_NO_THREAD);
	tlgmake_add(make, TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
		TLG_MAGIC, TLG_VERSION, TLG_TEXT_SIZE, TLG_EVENT_SIZE, 8, 0, 0
	};
	tlgmake_add(make, TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo = (struct tlg_procinfo){
		make->pid, make->cycle, TLGMAKE_RAW + make->start_ns
	};
	tlgmake_text(make, 0, text, (size_t)n + 1);
	tlgmake_add(make, TLG_TIMETYPE, 0)->u.timetype =
		(struct tlg_timetype){ 1000000000, TLG_CLOCK_MONOTONIC, 0, 3600 };
	tlgmake_add(make, TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){ TLGMAKE_RAW, TLGMAKE_SECOND };
	tlgmake_add(make, TLG_CYCLE, 0)->u.cycle =
		(struct tlg_cycle){ make->stream, make->cycle, TLGMAKE_RAW + make->cycle_ns };
	tlgmake_seal(make);
}

void tlgmake_mark(struct tlgmake *make, uint64_t ns)
{
	tlgmake_begin(make, TLG_NO_THREAD);
	tlgmake_add(make, TLG_MARK, 0)->u.mark = (struct tlg_mark){ TLGMAKE_RAW + ns, make->hits };
	tlgmake_seal(make);
}

void tlgmake_loss(struct tlgmake *make, uint32_t tid, unsigned reason, uint64_t total)
{
	tlgmake_begin(make, TLG_NO_THREAD);
	tlgmake_add(make, TLG_LOSS, 0)->u.loss = (struct tlg_loss){ total, tid, (uint16_t)reason, 0 };
	tlgmake_seal(make);
}

void tlgmake_end(struct tlgmake *make)
{
	tlgmake_begin(make, TLG_NO_THREAD);
	tlgmake_add(make, TLG_END, 0)->u.end = (struct tlg_end){
		make->hits, make->cycle, TLG_END_EXIT, 0
	};
	tlgmake_seal(make);
}

/* ---- threads ------------------------------------------------------------------------------------ */

static uint32_t next_sequence(const struct tlgmake *make)
{
	return make->next[make->tid % TLGMAKE_THREADS] + 1;
}

void tlgmake_thread(struct tlgmake *make, const char *name, uint64_t start_ns)
{
	tlgmake_add(make, TLG_THREAD | TLG_HAS_INFO, next_sequence(make))->u.thread = (struct tlg_thread){
		make->tid, 1000 + make->tid, TLGMAKE_RAW + start_ns
	};
	tlgmake_text(make, next_sequence(make), name, strlen(name));
}

void tlgmake_file(struct tlgmake *make, uint16_t filenum, const char *name)
{
	tlgmake_add(make, TLG_FLOC | TLG_HAS_INFO, next_sequence(make))->u.fileloc = (struct tlg_fileloc){
		filenum, (uint16_t)make->cycle, 0
	};
	tlgmake_text(make, next_sequence(make), name, strlen(name));
}

void tlgmake_scope(struct tlgmake *make, uint32_t index, unsigned style, uint16_t filenum, const char *label)
{
	tlgmake_add(make, TLG_SLOC | TLG_HAS_INFO, next_sequence(make))->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = index, .linenum = (int32_t)(100 + index), .filenum = filenum,
		.writeCount = (uint16_t)make->cycle, .style = (uint8_t)style, .names = TLG_NAME_LABEL,
	};
	tlgmake_text(make, next_sequence(make), label, strlen(label) + 1);
}

void tlgmake_open_region(struct tlgmake *make, uint64_t ns, uint32_t scope)
{
	tlgmake_add(make, TLG_OPEN, next_sequence(make))->u.open = (struct tlg_open){
		TLGMAKE_RAW + ns, scope, make->tid
	};
}

static struct tlg_event *add_hit(struct tlgmake *make, uint64_t at_ns, uint32_t scope)
{
	struct tlg_event *event = tlgmake_add(make, TLG_HIT, next_sequence(make));

	event->u.hit = (struct tlg_hit){ at_ns ? TLGMAKE_RAW + at_ns : 0, scope, make->tid };
	make->hits++;
	return event;
}

void tlgmake_hit(struct tlgmake *make, uint64_t at_ns, uint32_t scope)
{
	add_hit(make, at_ns, scope);
	tlgmake_lose(make, make->tid, 1);
}

void tlgmake_lose(struct tlgmake *make, uint32_t tid, uint32_t events)
{
	make->next[tid % TLGMAKE_THREADS] += events;
}

static void add_value(struct tlgmake *make, unsigned type, int64_t value)
{
	tlgmake_add(make, TLG_VALUE, next_sequence(make))->u.value = (struct tlg_value){ value, type, 0 };
}

void tlgmake_hit_with(struct tlgmake *make, uint64_t at_ns, uint32_t scope, const char *letters, ...)
{
	struct tlg_event *hit = add_hit(make, at_ns, scope);
	unsigned first = make->count;
	char text[65536] = "";
	size_t n = 0;
	va_list ap;

	va_start(ap, letters);
	for (; *letters; letters++) {
		const char *word = *letters == 's' || *letters == 'S' ? va_arg(ap, const char *) : NULL;
		size_t length = word ? strlen(word) : 0;
		if (*letters == 's')
			add_value(make, word ? TLG_ARG_TEXT : TLG_ARG_NULL, (int64_t)length);
		else if (*letters == 'i')
			add_value(make, TLG_ARG_INT, va_arg(ap, int64_t));
		else if (*letters != 'S') {
			uint64_t value = va_arg(ap, uint64_t);
			add_value(make, TLG_ARG_UINT,
				  (int64_t)(*letters == 't' && value ? TLGMAKE_RAW + value : value));
		}
		if (word)
			memcpy(text + n, word, length);
		n += length;
	}
	va_end(ap);
	tlgmake_text(make, next_sequence(make), text, n);
	if (make->count > first) {
		hit->flags |= TLG_HAS_INFO;
		make->block[make->count].flags |= TLG_INFO_END;
	}
	tlgmake_lose(make, make->tid, 1 + make->count - first);
}

/* ---- files -------------------------------------------------------------------------------------- */

static void store_le32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		to[i] = (unsigned char)value;
}

/* Plain bytes of whole blocks, at most limit, at least one block. */
static size_t whole_blocks(const struct tlgmake *make, size_t at, size_t limit)
{
	size_t n = 0;

	while (at + n < make->n) {
		struct tlg_event head;
		memcpy(&head, make->bytes + at + n, sizeof(head));
		if (n && n + (head.u.block.size + 1u) * sizeof(head) > limit)
			break;
		n += (head.u.block.size + 1u) * sizeof(head);
	}
	return n;
}

/* ---- the other byte order ------------------------------------------------------------------------ */

static void swap_bytes(unsigned char *p, unsigned n)
{
	for (unsigned i = 0; i < n / 2; i++) {
		unsigned char byte = p[i];
		p[i] = p[n - 1 - i];
		p[n - 1 - i] = byte;
	}
}

/* One event, by the description of its type. */
static void swap_event(unsigned char *event)
{
	const struct tlg_type_desc *type;
	struct tlg_event native;

	memcpy(&native, event, sizeof(native));
	swap_bytes(event, 2);
	swap_bytes(event + 2, 2);
	swap_bytes(event + 4, 4);
	type = tlg_type_by_id(tlg_event_type(&native));
	for (unsigned f = 0; type && f < type->nfields; f++)
		if (type->fields[f].kind != TLG_KIND_TEXT)
			swap_bytes(event + 8 + type->fields[f].offset, type->fields[f].size);
}

void tlgmake_swap(struct tlgmake *make)
{
	struct tlg_event head;
	size_t n;
	uint32_t crc;

	for (unsigned char *block = make->bytes; block < make->bytes + make->n; block += n) {
		memcpy(&head, block, sizeof(head));
		n = (head.u.block.size + 1u) * sizeof(head);
		swap_event(block);
		for (size_t at = sizeof(head); at < n && head.u.block.encoding == TLG_PLAIN; at += sizeof(head))
			swap_event(block + at);
		/* A checksum covers the bytes in the file's order, and is stored in that order. */
		crc = tlg_block_crc(block, n, TLG_BLOCK_CRC_AT, make->stream);
		memcpy(block + TLG_BLOCK_CRC_AT, &crc, sizeof(crc));
		swap_bytes(block + TLG_BLOCK_CRC_AT, sizeof(crc));
	}
}

unsigned char *tlgmake_lz4(const struct tlgmake *make, size_t limit, size_t *n)
{
	LZ4F_preferences_t how = { .frameInfo = {
		.contentChecksumFlag = LZ4F_contentChecksumEnabled, .blockChecksumFlag = LZ4F_blockChecksumEnabled
	} };
	unsigned char *to = malloc(2 * make->n + 65536);
	uint32_t number = 0;

	if (!to)
		die("tlgmake");
	*n = 0;
	for (size_t at = 0, part; at < make->n; at += part) {
		size_t framed;
		part = whole_blocks(make, at, limit);
		store_le32(to + *n, TLG_SKIP_MAGIC);
		store_le32(to + *n + 4, MARK_BYTES - 8);
		store_le32(to + *n + 8, make->stream);
		store_le32(to + *n + 12, ++number);
		store_le32(to + *n + 16, (uint32_t)part);
		store_le32(to + *n + 20, tlg_crc32c(0, to + *n + 8, 12));
		*n += MARK_BYTES;
		how.frameInfo.contentSize = part;
		framed = LZ4F_compressFrame(to + *n, 2 * make->n + 65536 - *n, make->bytes + at, part, &how);
		if (LZ4F_isError(framed))
			die("tlgmake");
		*n += framed;
	}
	return to;
}

const char *tlgmake_path(const void *bytes, size_t n)
{
	static char paths[16][32];
	static unsigned next;
	char *path = paths[next++ % 16];
	int fd = memfd_create("made.tlg", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		die("tlgmake");
	snprintf(path, sizeof(paths[0]), "/proc/self/fd/%d", fd);
	return path;
}

void tlgmake_close(const char *path)
{
	close(atoi(path + sizeof("/proc/self/fd/") - 1));
}
