/* SPDX-License-Identifier: MIT */
/*
 * tlg.h - the raw event: constants, payload structs, layout assertions.
 *
 * A .tlg stream is a sequence of 24-byte events in the writer's byte order: flags, pid, sequence, and a 16-byte payload
 * whose type is the low byte of flags.  FORMAT.md is the specification.  The writer (runtime/) and the reader (expand/)
 * both compile against this header.  All that depends on single event types is generated from tlg_events.def.
 *
 * This directory is pure: no I/O, no threads, no allocation, libc only.
 */
#ifndef TLG_H
#define TLG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	TLG_VERSION = 0x0200,         /* PROLOGUE.version: major 2, minor 0; StackTrack's own is 0x0100 */
	TLG_EVENT_SIZE = 24,          /* bytes of one event, everywhere */
	TLG_PAYLOAD_SIZE = 16,
	TLG_TEXT_SIZE = 16,           /* text bytes in one INFO event */
	TLG_BLOCK_EVENTS = 128,       /* events in a plain block, unless one chain alone is longer */
	TLG_PACK_EVENTS = 512,        /* the same for a packed block */
	TLG_BLOCK_LIMIT = 4096,       /* events in any block: readers refuse more */
	TLG_BLOCK_MAGIC = 0x544c,
	TLG_FRAME_BYTES = 196608,     /* plain bytes in one LZ4 frame at most */
	TLG_SKIP_MAGIC = 0x184d2a54,  /* LZ4 skippable frame in front of each LZ4 frame, little-endian */
	TLG_NAMES_MAGIC = 0x184d2a55, /* the same at the end of a file: names of code made at run time */
	TLG_REPO_NO_ID = 0xffff,      /* SLOC.repo: a repository that was never defined; git calls it 0 */
	TLG_NAME_MAX = 1024,          /* bytes of one name in a SLOC; a longer one travels as an argument */
};
#define TLG_MAGIC UINT32_C(0x12345678)   /* PROLOGUE._12345678 */
/* PROLOGUE.layout: the CRC-32C of the --show_format text.  If the table changes, a test prints the new value. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TLG_LAYOUT UINT32_C(0xd1497c5f)
#else
#define TLG_LAYOUT UINT32_C(0x66d6b5db)
#endif
#define TLG_NO_THREAD UINT32_C(0xffffffff) /* BLOCK.tid, LOSS.tid: the process itself */
/*
 * The key of a sample's first label, if one thread recorded the sample of another.  The value is the id of the sampled
 * thread, a blank, and its name.
 */
#define TLG_LABEL_THREAD "@thread"
/* What a reader calls address 0 of a stack: the outer functions are left out, for there were too many. */
#define TLG_STACK_CUT "[truncated]"

/*
 * How the name of a module begins that stands for no code, but says that the thread is off the CPU: in which system
 * call, as "[off-CPU: read]", or in none, "[off-CPU]".
 */
#define TLG_OFF_CPU "[off-CPU"

static inline int tlg_is_off_cpu(const char *module)
{
	return !strncmp(module, TLG_OFF_CPU, sizeof(TLG_OFF_CPU) - 1);
}

/* The name of the call in that name, length bytes of it.  Return  NULL: there is none */
static inline const char *tlg_off_cpu_call(const char *module, int *length)
{
	const char *call = module + sizeof(TLG_OFF_CPU ": ") - 1;

	if (!tlg_is_off_cpu(module) || strncmp(module, TLG_OFF_CPU ": ", sizeof(TLG_OFF_CPU ": ") - 1) != 0)
		return NULL;
	*length = (int)strcspn(call, "]");
	return call;
}

/*
 * The module of all addresses from here on: functions of the kernel.  Its build-id is that of no file, but of the start
 * of the system, as /proc/sys/kernel/random/boot_id has it.  The first address means: somewhere in the kernel.
 */
#define TLG_KERNEL "[kernel.kallsyms]"
#define TLG_KERNEL_START UINT64_C(0x8000000000000000)

/* The flags word. */
enum {
	TLG_TYPE_MASK = 0x00ff,
	TLG_HAS_INFO = 0x0100,        /* VALUE or INFO events follow, the last one marked INFO_END */
	TLG_INFO_END = 0x0200,
	TLG_HAS_MORE = 0x0400,        /* on HIT and MORE: the arguments continue in a later MORE event */
	TLG_RENDERED = 0x0800,        /* on HIT: a message's text is in the arguments, already formatted */
	TLG_CYCLE_SHIFT = 12,         /* 0xf000: low bits of the write count, set by the drain */
	TLG_CYCLE_MASK = 0xf000,
};

/* SLOC.names: the texts that follow, in this order, each ended by a NUL. */
enum { TLG_NAME_CATEGORY = 1, TLG_NAME_LABEL = 2, TLG_NAME_FORMAT = 4 };

/* VALUE.argtype */
enum {
	TLG_ARG_INT = 1, TLG_ARG_UINT, TLG_ARG_DOUBLE, TLG_ARG_TEXT, TLG_ARG_NULL, TLG_ARG_POINTER,
	TLG_ARG_SHIFT,        /* no argument: microseconds that the time of day is later than `when' */
};

/* TIMETYPE.timetype */
enum { TLG_CLOCK_TSC = 1, TLG_CLOCK_MONOTONIC = 2, TLG_CLOCK_CNTVCT = 3 };

/* LOSS.reason */
enum {
	TLG_LOSS_FULL = 1, TLG_LOSS_WRITE, TLG_LOSS_ABANDONED, TLG_LOSS_NORING, TLG_LOSS_CUT, TLG_LOSS_WAIT,
	TLG_LOSS_OVERWRITTEN, TLG_LOSS_OFF, TLG_LOSS_REASONS
};

/*
 * Values of OPEN.when that are no times.  LOST: the event that entered the region was dropped.  ASSUMED: this OPEN is
 * no region; it says that the regions before it are only assumed to be open, because unknown events were dropped.
 */
#define TLG_OPEN_LOST UINT64_MAX
#define TLG_OPEN_ASSUMED (UINT64_MAX - 1)

/* GAP.left: UNKNOWN if left and entered are not known.  Neither is larger than MAX. */
enum { TLG_GAP_UNKNOWN = 65535, TLG_GAP_MAX = 4095 };

/* END.reason */
enum { TLG_END_EXIT = 1, TLG_END_ROTATE = 2, TLG_END_SIGNAL = 3 };

/* RECOVERED.part, .state */
enum { TLG_RECOVERED_BEGIN = 1, TLG_RECOVERED_END = 2 };
enum { TLG_RECOVERED_DEAD = 1, TLG_RECOVERED_LIVE = 2 };

/* BLOCK.encoding */
enum { TLG_PLAIN = 0, TLG_PACKED = 1 };

/* child_start's flags argument */
enum { TLG_CHILD_GIT = 1, TLG_CHILD_SHELL = 2 };

struct tlg_text { char c[TLG_TEXT_SIZE]; };

/* Type ids: TLG_HIT, TLG_FLOC, ... */
enum tlg_type {
#define TLG_TYPE(id, uname, name, followedby, desc) TLG_##uname = (id),
#include "tlg_pass.h"
};

/* Payloads: struct tlg_hit, struct tlg_fileloc, ... */
#define TLG_TYPE(id, uname, name, followedby, desc) struct tlg_##name {
#define TLG_FIELD(ctype, tname, name, kind, desc) ctype name;
#define TLG_END(uname, name) };
#include "tlg_pass.h"

/* Assert that payloads have no padding: the sizes of the members add up to that of the struct, up to its alignment. */
#define TLG_TYPE(id, uname, name, followedby, desc) enum { TLG_SUM_##uname = 0
#define TLG_FIELD(ctype, tname, name, kind, desc) +(int)sizeof(ctype)
#define TLG_END(uname, name)                                                                           \
	};                                                                                             \
	static_assert(sizeof(struct tlg_##name) <= TLG_PAYLOAD_SIZE, #uname " does not fit a payload"); \
	static_assert(sizeof(struct tlg_##name) - TLG_SUM_##uname < 8, #uname " has padding inside");
#include "tlg_pass.h"

/* One raw event.  The first 8 bytes are written and read as one word: see tlg_head(). */
struct tlg_event {
	uint16_t flags;
	uint16_t pid;       /* low 16 bits of the process id: the key of the context */
	uint32_t sequence;  /* of the checkpoint; in a BLOCK the number of the block */
	union {
#define TLG_TYPE(id, uname, name, followedby, desc) struct tlg_##name name;
#include "tlg_pass.h"
		unsigned char payload[TLG_PAYLOAD_SIZE];
	} u;
};
static_assert(sizeof(struct tlg_event) == TLG_EVENT_SIZE, "an event has 24 bytes");
static_assert(offsetof(struct tlg_event, u) == 8, "the payload begins at 8");

/* Style ids: TLG_STYLE_region_enter, ... */
enum tlg_style {
	TLG_STYLE_none,
#define TLG_STYLE(id, name, args, desc) TLG_STYLE_##name = (id),
#include "tlg_styles.def"
#undef TLG_STYLE
	TLG_STYLE_COUNT
};

/* 1: the checkpoint identifies the process; a flight recorder pins it. */
static inline int tlg_style_is_identity(unsigned style)
{
	switch (style) {
	case TLG_STYLE_version:
	case TLG_STYLE_too_many_files:
	case TLG_STYLE_start:
	case TLG_STYLE_cmd_path:
	case TLG_STYLE_cmd_ancestry:
	case TLG_STYLE_cmd_name:
	case TLG_STYLE_cmd_mode:
	case TLG_STYLE_alias:
	case TLG_STYLE_def_param:
	case TLG_STYLE_def_repo:
		return 1;
	default:
		return 0;
	}
}

/* 1 for the kinds before which a thread leaves all regions except the outermost: the thread is about to end. */
static inline int tlg_style_unwinds(unsigned style)
{
	switch (style) {
	case TLG_STYLE_thread_exit:
	case TLG_STYLE_atexit:
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		return 1;
	default:
		return 0;
	}
}

/* 1 for these kinds, and for the kind that leaves regions up to a mark. */
static inline int tlg_style_cuts(unsigned style)
{
	return tlg_style_unwinds(style) || style == TLG_STYLE_region_unwind;
}

/* The header of an event as the one word that a ring stores last. */
static inline uint64_t tlg_head(unsigned flags, unsigned pid, uint32_t sequence)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)sequence << 32 | (uint64_t)(pid & 0xffff) << 16 | (flags & 0xffff);
#else
	return (uint64_t)(flags & 0xffff) << 48 | (uint64_t)(pid & 0xffff) << 32 | sequence;
#endif
}

/* The sequence and the flags of such a word, and the word with a sequence that is n higher. */
static inline uint32_t tlg_head_sequence(uint64_t head)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t)(head >> 32);
#else
	return (uint32_t)head;
#endif
}

static inline unsigned tlg_head_flags(uint64_t head)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)head & 0xffff;
#else
	return (unsigned)(head >> 48);
#endif
}

static inline uint64_t tlg_head_later(uint64_t head, uint32_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return head + ((uint64_t)n << 32);
#else
	return (head & ~(uint64_t)UINT32_MAX) | (uint32_t)(head + n);
#endif
}

static inline unsigned tlg_event_type(const struct tlg_event *e)
{
	return e->flags & TLG_TYPE_MASK;
}

/* Events of the chain that begins here: up to INFO_END, but never more than max. */
static inline unsigned tlg_chain_length(const struct tlg_event *chain, unsigned max)
{
	unsigned end = 1;

	if (chain->flags & TLG_HAS_INFO)
		while (end < max && !(chain[end++].flags & TLG_INFO_END))
			;
	return end;
}

/* 1 for the events that carry arguments: VALUE and INFO. */
static inline int tlg_is_argument(unsigned type)
{
	return type == TLG_INFO || type == TLG_VALUE;
}

#endif
