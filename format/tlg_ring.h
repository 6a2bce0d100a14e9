/* SPDX-License-Identifier: MIT */
/*
 * tlg_ring.h - the ring file: the memory in which a process records; its drain and a recovering reader use it, too.
 *
 * Each traced process has one sparse file.  FORMAT.md, section 10, says how to read it after the death of the process.
 * This header is its layout, in the byte order of the machine.  It has no addresses, and a reader in another process
 * trusts none of its numbers.
 *
 *   head | first entries of all tables | first chunk | scopes | sources | dropped events | texts | rings | chunks ...
 *
 * A page costs 5 us, and most processes need only a few entries of each table.  So the first entries of all tables
 * share the second page, and their places in the tables stay empty.  For the same reason the first chunk lies close
 * behind that page, and its place among the other chunks stays empty.
 *
 * A chunk has 64 KiB of addresses, behind 64 KiB that nobody uses.  So a position inside of a chunk has bit 16 set.  A
 * position past a chunk's end has it clear, and so has the 0 that a forked child finds.  One test of the position thus
 * shows whether an event may be written there, whatever a signal handler has done in between.  Of a shorter chunk only
 * the first page, which has its head, and the last pages are in memory.
 *
 * Chunks belong to the process: a thread acquires a free one, and the drain releases it when its events are written.
 *
 * The drain's state and the rings' tails change with every write of the drain.  The file has two versions of each.  The
 * valid version is that with the higher write number, provided that this is not above tlg_ring_file.written.  So a
 * process can die at any point of a change.
 *
 * The tags [Mn] are explained in runtime/ring/tr2_ring.h.
 */
#ifndef TLG_RING_H
#define TLG_RING_H

#include "tlg.h"

enum {
	TLG_RING_LAYOUT = 6,              /* version of this layout; readers refuse later ones */
	TLG_RING_OLDEST_LAYOUT = 5,       /* and earlier ones than this: it has no first_chunk_at */
	TLG_MAX_RINGS = 65536,
	TLG_MAX_SCOPES = 65536,
	TLG_MAX_SOURCES = 65536,
	TLG_MAX_CHUNKS = 5 << 16,
	TLG_MAX_LOSSES = 1024,
	TLG_RING_REASONS = 16,            /* TLG_LOSS_*, and space for further ones */
	TLG_MAX_ABANDONED = 8,            /* reservations of one ring that may be committed late */
	TLG_POINT_REGIONS = 10,           /* open regions in a recovery point */
	TLG_RING_TEXT_BYTES = 16 << 20,
	TLG_RING_PATH = 1280,
	TLG_THREAD_NAME = 32,             /* bytes of a thread's name, ended by NUL */
	TLG_RING_STRIDE = 1024,           /* bytes from one ring to the next */
	TLG_RING_FIRST_AT = 4096,         /* struct tlg_ring_first */
	TLG_CHUNK_BYTES = 65536,
	TLG_CHUNK_STRIDE = 131072,
	TLG_CHUNK_EVENTS = 2728,
};
#define TLG_RING_MAGIC UINT64_C(0x31676e6972327274) /* "tr2ring1" */

/* How far the drain has written the stream: the .tlg file must have this.  All other events are in the rings. */
struct tlg_ring_state {
	uint64_t write;                   /* number of the write that completes this state */
	uint32_t stream, blocks;          /* id; blocks in the file: the number of the last one */
	uint32_t cycle, spare;            /* of the stream */
	uint64_t stored;                  /* HITs in the file */
	uint64_t raw, ns;                 /* raw clock at that write; the same in ns since 1970 */
	uint64_t device, inode;           /* of the .tlg file */
	char path[TLG_RING_PATH];         /* of the .tlg file; "": there is none, or its name is too long */
};

/* Requests of other processes for the stacks of all threads, and how many threads have answered. */
struct tlg_ring_stacks {
	uint32_t signal;                  /* the signal that makes a request; 0: the process does not answer */
	uint32_t asked, answered;         /* threads, in all requests together */
	uint32_t question;                /* number of the last request that all threads have received.  [M17] */
};

/* The head of the file, at offset 0. */
struct tlg_ring_file {
	uint64_t magic;                   /* written last */
	uint32_t layout, entry_size;
	uint32_t pid;
	uint32_t clock_type;              /* TLG_CLOCK_* */
	uint64_t start;                   /* raw clock at the start of the process */
	uint64_t start_ns;                /* the same in ns since 1970 */
	uint64_t created;                 /* CLOCK_BOOTTIME in ns when the file was made; the process started before */
	int32_t utcoff;                   /* as in TIMETYPE */
	uint64_t chunks_at, rings_at, tables_at, bytes;
	uint32_t rings_used, scopes_used, sources_used, texts_used, chunks_used;
	uint32_t losses_used;             /* may be larger than the table */
	uint32_t losses_changed;          /* [M9] */
	uint64_t losses[TLG_RING_REASONS];  /* of the process itself, by reason */
	uint64_t written;                 /* writes that are complete.  [M8] */
	char boot[40];                    /* older writers: the kernel's boot id; "": not known */
	uint64_t pid_space;               /* inode of the PID namespace, once the process drains or forks; else 0 */
	char sid[1024];
	struct tlg_ring_state states[2];
	struct tlg_ring_stacks stacks;    /* older writers: 0 */
	uint32_t is_over;                 /* 1: the stream has its END, no event is left here.  Older writers: 0 */
	uint32_t lacks_thread;            /* 1: no consumer thread, only calls of the program write.  Older ones: 0 */
	uint64_t first_chunk_at;          /* chunk 0; 0: among the others, as older writers have it */
};
static_assert(sizeof(struct tlg_ring_file) <= TLG_RING_FIRST_AT, "the head is one page");

/* An abandoned reservation: its thread recorded behind it without committing it.  It may still be committed. */
struct tlg_ring_abandoned {
	uint32_t chunk, event, end;       /* number of the chunk; first event; event behind the last */
};

/* How far the drain has written a ring's events, and the thread to which they belong. */
struct tlg_ring_tail {
	uint64_t write;                   /* number of the write that completes this tail; 0: never written */
	uint32_t chunk, event;            /* number of the chunk being read, 0: none yet; first event not in the file */
	uint32_t tid, ostid;
	uint64_t start;
	uint32_t position, nabandoned;    /* events of the thread so far: the next one's sequence - 1 */
	uint64_t seen_events;             /* dropped events of the ring that position counts already */
	char name[TLG_THREAD_NAME];
	struct tlg_ring_abandoned abandoned[TLG_MAX_ABANDONED];
};

/*
 * A recovery point: the state at the end of a ring's overwritten chunks, on which the remaining events depend.  It is
 * written before a chunk is overwritten.  Of the two versions, that with the higher turn is valid.
 */
struct tlg_ring_point {
	uint64_t turn;                    /* 0: never written */
	uint32_t chunk, event;            /* number of the oldest chunk that is left; its first event */
	uint32_t tid, ostid;              /* the thread that recorded it */
	uint64_t start, seen_events;      /* as in a tail */
	uint32_t position, nopen;
	uint64_t counted;                 /* the thread's overwritten checkpoints in the table of dropped events */
	uint64_t uncounted;               /* further ones, which the writer adds to the table next */
	char name[TLG_THREAD_NAME];
	struct { uint64_t when; uint32_t scope, spare; } open[TLG_POINT_REGIONS];   /* outermost first */
};

/* One ring: its owner, the drain and a recovering reader share it. */
struct tlg_ring {
	union {                           /* robust mutex: the owner has locked it; when it dies, the kernel marks it */
		uint32_t word;            /* 0: no owner; bit 30: the owner is dead */
		uint64_t space[8];
	} owner;
	uint32_t first_number;            /* number of the chunk with the index first.  Written before first */
	uint32_t first;                   /* index + 1 of the chunk to which no other links; 0: none.  [M3] */
	uint32_t tid, ostid;
	uint32_t has_owner;               /* 1 from the acquisition until the drain finds that the owner has ended */
	uint64_t start;                   /* raw clock when the owner was first seen */
	char name[TLG_THREAD_NAME];
	uint64_t unused;                  /* older writers: checkpoints dropped */
	uint64_t lost_events;             /* ring events dropped; only the owner writes it */
	struct tlg_ring_tail tails[2];
	struct tlg_ring_point points[2];
};
static_assert(sizeof(struct tlg_ring) <= TLG_RING_STRIDE, "rings lie 1024 bytes apart");
enum { TLG_RING_OWNER_DEAD = 0x40000000 };

/* A checkpoint's place and names.  The names lie one behind the other at text. */
struct tlg_ring_scope {
	uint32_t ready;                   /* 1 when the rest is written.  [M4] */
	uint32_t hash;
	uint32_t text;                    /* offset in the texts */
	uint32_t text_bytes;
	int32_t line;
	uint16_t filenum, repo;
	uint8_t style, names;
	uint8_t spare[6];
};
static_assert(sizeof(struct tlg_ring_scope) == 32, "scopes lie 32 bytes apart");

struct tlg_ring_source { uint32_t ready, text; };   /* [M4]; offset of the file's name in the texts */

/* The total of checkpoints that a thread has dropped for a reason, also of those that no LOSS has reported yet. */
struct tlg_ring_loss {
	uint32_t is_set;                  /* [M11] tid and reason are written */
	uint32_t tid;
	uint32_t reason, spare;
	uint64_t count;
};

/* The first entries of the tables, at TLG_RING_FIRST_AT. */
enum { TLG_FIRST_RINGS = 1, TLG_FIRST_SCOPES = 40, TLG_FIRST_SOURCES = 16, TLG_FIRST_TEXTS = 1664 };
struct tlg_ring_first {
	unsigned char rings[TLG_FIRST_RINGS * TLG_RING_STRIDE];
	struct tlg_ring_scope scopes[TLG_FIRST_SCOPES];
	struct tlg_ring_source sources[TLG_FIRST_SOURCES];
	char texts[TLG_FIRST_TEXTS];
};
static_assert(sizeof(struct tlg_ring_first) == 4096, "one page");

/*
 * Where the tables begin, from tlg_ring_file.tables_at on, and their size together.  The rings lie elsewhere.  If the
 * address space is small, there are fewer rings and texts.
 */
enum {
	TLG_SCOPES_AT = 0,
	TLG_SOURCES_AT = TLG_SCOPES_AT + TLG_MAX_SCOPES * (int)sizeof(struct tlg_ring_scope),
	TLG_LOSSES_AT = TLG_SOURCES_AT + TLG_MAX_SOURCES * (int)sizeof(struct tlg_ring_source),
	TLG_TEXTS_AT = TLG_LOSSES_AT + TLG_MAX_LOSSES * (int)sizeof(struct tlg_ring_loss),
	TLG_TABLES_BYTES = TLG_TEXTS_AT + TLG_RING_TEXT_BYTES,
};

/* Offset in the file of chunk i. */
static inline uint64_t tlg_chunk_at(const struct tlg_ring_file *head, uint64_t i)
{
	return !i && head->first_chunk_at ? head->first_chunk_at
					  : head->chunks_at + i * TLG_CHUNK_STRIDE + TLG_CHUNK_BYTES;
}

static inline int tlg_ring_is_known(const struct tlg_ring_file *head)
{
	return head->magic == TLG_RING_MAGIC && head->layout >= TLG_RING_OLDEST_LAYOUT &&
	       head->layout <= TLG_RING_LAYOUT && head->entry_size == TLG_EVENT_SIZE;
}

/* Offset in the file of entry i of a table; of a text, which lies either on the second page or in the table. */
static inline uint64_t tlg_ring_at(uint64_t rings_at, uint64_t i)
{
	return (i < TLG_FIRST_RINGS ? TLG_RING_FIRST_AT + offsetof(struct tlg_ring_first, rings) : rings_at) +
	       i * TLG_RING_STRIDE;
}

static inline uint64_t tlg_scope_at(uint64_t tables_at, uint64_t i)
{
	return (i < TLG_FIRST_SCOPES ? TLG_RING_FIRST_AT + offsetof(struct tlg_ring_first, scopes)
				     : tables_at + TLG_SCOPES_AT) + i * sizeof(struct tlg_ring_scope);
}

static inline uint64_t tlg_source_at(uint64_t tables_at, uint64_t i)
{
	return (i < TLG_FIRST_SOURCES ? TLG_RING_FIRST_AT + offsetof(struct tlg_ring_first, sources)
				      : tables_at + TLG_SOURCES_AT) + i * sizeof(struct tlg_ring_source);
}

static inline uint64_t tlg_text_at(uint64_t tables_at, uint64_t offset)
{
	return (offset < TLG_FIRST_TEXTS ? TLG_RING_FIRST_AT + offsetof(struct tlg_ring_first, texts)
					 : tables_at + TLG_TEXTS_AT) + offset;
}

/* A chunk.  The first 12 bytes are struct trace2_chunk of trace2.h. */
struct tlg_chunk {
	uint64_t head;                    /* header word of the events in it: number, pid */
	uint32_t tid;
	uint32_t number;                  /* of this use of the chunk; unique in the process, and growing */
	uint32_t next;                    /* index + 1 of the owner's next chunk; 0: none yet.  [M3] */
	uint32_t state;                   /* TLG_CHUNK_*.  [M10] */
	uint64_t unused;                  /* older writers: the ring's count of dropped checkpoints, likewise */
	uint64_t lost_events;             /* the ring's count of dropped events when this chunk was opened */
	uint32_t ring;
	uint32_t first;                   /* its first event; those in front are unused.  Set before [M3] */
	uint64_t opened, opened_ns;       /* raw clock when it was opened; the same in ns since 1970 */
	struct tlg_event events[TLG_CHUNK_EVENTS];
};
static_assert(offsetof(struct tlg_chunk, events) == 64, "events begin at 64");
static_assert(sizeof(struct tlg_chunk) == 64 + TLG_CHUNK_EVENTS * TLG_EVENT_SIZE, "no padding");
static_assert(sizeof(struct tlg_chunk) == TLG_CHUNK_BYTES, "a chunk has 64 KiB");

/*
 * A held chunk has an abandoned reservation that its thread may still commit.  The chunk is not reused before the
 * thread commits it, ends, or declares that it will not commit it.
 * A flight recorder pins the first chunk of the process instead of overwriting it, because it identifies the process.
 */
enum { TLG_CHUNK_UNUSED, TLG_CHUNK_FREE, TLG_CHUNK_OPEN, TLG_CHUNK_HELD, TLG_CHUNK_PINNED };

/*
 * The first event of a chunk that uses 2, 4, 8 or all 16 pages.  The head's page is one of them.
 */
static inline uint32_t tlg_chunk_first(unsigned pages)
{
	return pages * 4096 >= TLG_CHUNK_BYTES ? 0 : TLG_CHUNK_EVENTS - (pages - 1) * 4096 / TLG_EVENT_SIZE;
}

#endif
