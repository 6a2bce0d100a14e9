/* SPDX-License-Identifier: MIT */
/*
 * tlg_ring.h - the ring file: the memory in which a process records, as its drain and a recovering reader see it.
 *
 * One sparse file for each traced process.  FORMAT.md, section 10, says how it is read after the death of its process;
 * this header is its layout, in the byte order of the machine.  Nothing in it is an address, and a reader in another
 * process trusts none of its numbers.
 *
 *   head | first entries of all tables | scopes | sources | dropped events | texts | rings | chunks ...
 *
 * A page costs 5 us, and most processes need but a few entries of each table: so these share the second page, and their
 * places in the tables stay empty.
 *
 * A chunk is 64 KiB of addresses behind 64 KiB that are never touched: a position past a chunk's end, or the 0 that a
 * forked child finds, has bit 16 clear, so one test on the position alone shows whether it may be written to, whatever
 * a signal handler has done in between.  Of a shorter chunk only the first page, which has its head, and its last ones
 * are in memory.
 *
 * Chunks belong to the process: a thread acquires a free one, and it is released when its events are in the file.
 *
 * What changes with every write of the drain, its state and the rings' tails, is there twice.  Valid is the one with
 * the higher write number that is not above tlg_ring_file.written: so a process can die at any point of a change.
 *
 * The tags [Mn] are explained in runtime/ring/tr2_ring.h.
 */
#ifndef TLG_RING_H
#define TLG_RING_H

#include "tlg.h"

enum {
	TLG_RING_LAYOUT = 5,              /* of this file; its readers refuse others */
	TLG_MAX_RINGS = 65536,
	TLG_MAX_SCOPES = 65536,
	TLG_MAX_SOURCES = 65536,
	TLG_MAX_CHUNKS = 5 << 16,
	TLG_MAX_LOSSES = 1024,
	TLG_RING_REASONS = 16,            /* TLG_LOSS_*, and as many to come */
	TLG_MAX_ABANDONED = 8,            /* reservations of one ring that may be committed late */
	TLG_POINT_REGIONS = 10,           /* open regions in a recovery point */
	TLG_RING_TEXT_BYTES = 16 << 20,
	TLG_RING_PATH = 1280,
	TLG_THREAD_NAME = 32,             /* bytes of a thread's name, ended by NUL */
	TLG_RING_STRIDE = 1024,           /* rings lie so far apart */
	TLG_RING_FIRST_AT = 4096,         /* struct tlg_ring_first */
	TLG_CHUNK_BYTES = 65536,
	TLG_CHUNK_STRIDE = 131072,
	TLG_CHUNK_EVENTS = 2728,
};
#define TLG_RING_MAGIC UINT64_C(0x31676e6972327274) /* "tr2ring1" */

/* How far the drain has come with the stream: what the file must have.  What it lacks is in the rings. */
struct tlg_ring_state {
	uint64_t write;                   /* number of the write after which it is so */
	uint32_t stream, blocks;          /* id; blocks in the file: the number of the last one */
	uint32_t cycle, spare;            /* of the stream */
	uint64_t stored;                  /* HITs in the file */
	uint64_t raw, ns;                 /* raw clock then; the same in ns since 1970 */
	uint64_t device, inode;           /* of the .tlg file */
	char path[TLG_RING_PATH];         /* of the .tlg file; "": it does not go to one, or the name is longer */
};

/* How the process is asked from outside where all its threads are, and how far they have answered: sums. */
struct tlg_ring_stacks {
	uint32_t signal;                  /* asks it; 0: it does not answer */
	uint32_t asked, answered;         /* threads, of all questions */
	uint32_t question;                /* number of the last one that has been put to all threads.  [M17] */
};

/* At 0. */
struct tlg_ring_file {
	uint64_t magic;                   /* last to be written */
	uint32_t layout, entry_size;
	uint32_t pid;
	uint32_t clock_type;              /* TLG_CLOCK_* */
	uint64_t start;                   /* raw clock at the start of the process */
	uint64_t start_ns;                /* the same in ns since 1970 */
	uint64_t created;                 /* CLOCK_BOOTTIME in ns when the file was made: the process began before */
	int32_t utcoff;                   /* as in TIMETYPE */
	uint64_t chunks_at, rings_at, tables_at, bytes;
	uint32_t rings_used, scopes_used, sources_used, texts_used, chunks_used;
	uint32_t losses_used;             /* may run past the table */
	uint32_t losses_changed;          /* [M9] */
	uint64_t losses[TLG_RING_REASONS];  /* of the process itself, by reason */
	uint64_t written;                 /* writes that are complete.  [M8] */
	char boot[40];                    /* of older writers: the kernel's boot id; "": not known */
	uint64_t pid_space;               /* inode of the namespace of pid, once somebody drains or forks; else 0 */
	char sid[1024];
	struct tlg_ring_state states[2];
	struct tlg_ring_stacks stacks;    /* of older writers: 0 */
	uint32_t is_over;                 /* 1: the trace has its end, nothing is left here.  Of older writers: 0 */
	uint32_t lacks_thread;            /* 1: what is recorded is written when a call comes.  Of older writers: 0 */
};
static_assert(sizeof(struct tlg_ring_file) <= TLG_RING_FIRST_AT, "the head is one page");

/* An abandoned reservation: its thread went on behind it without committing it.  It may be committed late. */
struct tlg_ring_abandoned {
	uint32_t chunk, event, end;       /* number of the chunk; first event, and the one behind the last */
};

/* Up to where the drain has written a ring's events, and whose these are. */
struct tlg_ring_tail {
	uint64_t write;                   /* number of the write after which it is so; 0: never written */
	uint32_t chunk, event;            /* number of the chunk being read, 0: none yet; first event not in the file */
	uint32_t tid, ostid;
	uint64_t start;
	uint32_t position, nabandoned;    /* events of the thread so far: the next one's sequence - 1 */
	uint64_t seen_events;             /* of the ring's dropped events: are counted in position */
	char name[TLG_THREAD_NAME];
	struct tlg_ring_abandoned abandoned[TLG_MAX_ABANDONED];
};

/*
 * A recovery point: what the overwritten chunks of a ring said that the rest depends on.  Written before a chunk is
 * given up; of the two the one with the higher turn holds.
 */
struct tlg_ring_point {
	uint64_t turn;                    /* 0: never written */
	uint32_t chunk, event;            /* number of the oldest chunk that is left; its first event */
	uint32_t tid, ostid;              /* whose that is */
	uint64_t start, seen_events;      /* as in a tail */
	uint32_t position, nopen;
	uint64_t counted;                 /* the thread's overwritten checkpoints, as the table had them then */
	uint64_t uncounted;               /* what it adds to that next */
	char name[TLG_THREAD_NAME];
	struct { uint64_t when; uint32_t scope, spare; } open[TLG_POINT_REGIONS];   /* outermost first */
};

/* One ring: what its owner, the drain and a recovering reader share. */
struct tlg_ring {
	union {                           /* robust mutex held by the thread; the kernel hands it back */
		uint32_t word;            /* 0: nobody; bit 30: the owner is dead */
		uint64_t space[8];
	} owner;
	uint32_t first_number;            /* number of the chunk that first means.  Written before it */
	uint32_t first;                   /* chunk that no other leads to, index + 1; 0: none.  [M3] */
	uint32_t tid, ostid;
	uint32_t has_owner;               /* 1 from acquisition until the drain found the owner gone */
	uint64_t start;                   /* raw clock when the owner was first seen */
	char name[TLG_THREAD_NAME];
	uint64_t lost_hits;               /* checkpoints dropped: written by the owner */
	uint64_t lost_events;             /* ring events that these would have taken */
	struct tlg_ring_tail tails[2];
	struct tlg_ring_point points[2];
};
static_assert(sizeof(struct tlg_ring) <= TLG_RING_STRIDE, "rings lie 1024 bytes apart");
enum { TLG_RING_OWNER_DEAD = 0x40000000 };

/* A checkpoint's place and names, which lie one behind the other at text. */
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

/* What a thread has dropped for a reason, in total; counted at once, so also what no LOSS has reported yet. */
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
 * Where the tables begin, from tlg_ring_file.tables_at on, and how long they are together.  The rings are elsewhere;
 * where addresses are few there are fewer rings and texts.
 */
enum {
	TLG_SCOPES_AT = 0,
	TLG_SOURCES_AT = TLG_SCOPES_AT + TLG_MAX_SCOPES * (int)sizeof(struct tlg_ring_scope),
	TLG_LOSSES_AT = TLG_SOURCES_AT + TLG_MAX_SOURCES * (int)sizeof(struct tlg_ring_source),
	TLG_TEXTS_AT = TLG_LOSSES_AT + TLG_MAX_LOSSES * (int)sizeof(struct tlg_ring_loss),
	TLG_TABLES_BYTES = TLG_TEXTS_AT + TLG_RING_TEXT_BYTES,
};

/* Offset in the file of entry i of a table; of a text, which is never split between the two. */
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
	uint32_t number;                  /* of this use of the chunk, unique in the process, growing */
	uint32_t next;                    /* the owner's next chunk, index + 1; 0: none yet.  [M3] */
	uint32_t state;                   /* TLG_CHUNK_*.  [M10] */
	uint64_t lost_hits, lost_events;  /* the ring's counts of drops when this chunk was opened */
	uint32_t ring;
	uint32_t first;                   /* its first event: those in front are not used.  Set before [M3] */
	uint64_t opened, opened_ns;       /* raw clock when it was opened; the same in ns since 1970 */
	struct tlg_event events[TLG_CHUNK_EVENTS];
};
static_assert(offsetof(struct tlg_chunk, events) == 64, "events begin at 64");
static_assert(sizeof(struct tlg_chunk) == 64 + TLG_CHUNK_EVENTS * TLG_EVENT_SIZE, "no padding");
static_assert(sizeof(struct tlg_chunk) == TLG_CHUNK_BYTES, "a chunk has 64 KiB");

/*
 * A held chunk has an abandoned reservation that its thread may still commit: until then, or until the thread ends or
 * says that it will not, the chunk is not used again.
 * The process's first chunk is pinned when a flight recorder would overwrite it: it says what process this is.
 */
enum { TLG_CHUNK_UNUSED, TLG_CHUNK_FREE, TLG_CHUNK_OPEN, TLG_CHUNK_HELD, TLG_CHUNK_PINNED };

/*
 * The first event of a chunk of 2, 4, 8 or 16 pages (all of it).  The head's page is one of them.
 */
static inline uint32_t tlg_chunk_first(unsigned pages)
{
	return pages * 4096 >= TLG_CHUNK_BYTES ? 0 : TLG_CHUNK_EVENTS - (pages - 1) * 4096 / TLG_EVENT_SIZE;
}

#endif
