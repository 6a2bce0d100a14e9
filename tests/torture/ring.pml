/* SPDX-License-Identifier: MIT */
/*
 * ring.pml - the protocol of a ring (runtime/ring/tr2_ring.h), checked exhaustively by spin under release and acquire.
 *
 * Memory: each location keeps all values that were ever stored to it, each thread a view: for every location the
 * oldest value that it may still read.  A release store carries the writer's view, an acquire load joins it; a
 * release fence lends the view to the relaxed stores behind it, an acquire fence joins the views of the relaxed
 * loads before it.  Plain loads and stores are checked for races: who loads must know of the latest store, who
 * stores of all loads so far, or else the compiler and the processor may put them in any order.
 *
 * Ring: two chunks of two events.  An event is committed when its header is the number of its chunk.
 *   default       the drain follows the links, reads, and frees a chunk when it has left it: [M1] [M2] [M3].  The pool
 *                 between them is one word for each chunk here; that a stack gives it to one alone tests/unit/ring/test_tr2_pool.c
 *                 shows
 *   OVERWRITE     the writer takes its oldest chunk again, whoever reads; a reader of another process (t2expand
 *                 --live) believes what it copied if the chunk's number is still the same: [M1] [M13]
 * Each of the macros below is 1 in the product; with 0 that order is weakened to relaxed, and spin must find an error.
 */
#ifndef HDR_REL
#define HDR_REL 1                         /* [M1] tr2_ring_commit() */
#endif
#ifndef HDR_ACQ
#define HDR_ACQ 1                         /* [M1] committed_head() */
#endif
#ifndef FREE_REL
#define FREE_REL 1                        /* [M2] tr2_stack_push(): a chunk goes back to the pool */
#endif
#ifndef FREE_ACQ
#define FREE_ACQ 1                        /* [M2] tr2_stack_pop(): it is taken from there */
#endif
#ifndef LINK_REL
#define LINK_REL 1                        /* [M3] tr2_ring_open_chunk() */
#endif
#ifndef LINK_ACQ
#define LINK_ACQ 1                        /* [M3] next_chunk() */
#endif
#ifndef FENCE_REL
#define FENCE_REL 1                       /* [M13] tr2_ring_open_chunk() */
#endif
#ifndef FENCE_ACQ
#define FENCE_ACQ 1                       /* [M13] the reader of another process */
#endif

#ifdef OVERWRITE
#define EVENTS 5
#else
#define EVENTS 6
#endif
#define SLOTS 2
#define NONE 9
#define STORES 6                          /* to one location, the initial value included */
#define LOCATIONS 21
#define NUMBER(c) ((c) * 7)
#define STATE(c) ((c) * 7 + 1)            /* 0 free, 1 open */
#define NEXT(c) ((c) * 7 + 2)             /* chunk + 1; 0: none yet */
#define HEADER(c, s) ((c) * 7 + 3 + (s))
#define PAYLOAD(c, s) ((c) * 7 + 5 + (s))
#define FIRST 14                          /* chunk + 1 */
#define LOADS(c, what) (15 + (c) * 3 + (what))   /* counts the plain loads: 0, 1 of a payload, 2 of the number */

typedef View { byte at[LOCATIONS] };
typedef Store { byte value; View view };
typedef History { Store store[STORES]; byte n };

History memory[LOCATIONS];
View view[2];                             /* 0 writer, 1 reader */
View lent;                                /* by the writer's release fence */
View joined;                              /* what the reader's acquire fence would join */
byte q, k;

inline join(to, from)
{
	q = 0;
	do
	:: q < LOCATIONS ->
		if
		:: from.at[q] > to.at[q] -> to.at[q] = from.at[q]
		:: else
		fi;
		q++
	:: else -> break
	od;
	q = 0
}

/* Any value from the oldest that the thread may see on. */
inline load(thread, location, acquire, result)
{
	atomic {
		k = view[thread].at[location];
		do
		:: k + 1 < memory[location].n -> k++
		:: break
		od;
		result = memory[location].store[k].value;
		view[thread].at[location] = k;
		if
		:: acquire -> join(view[thread], memory[location].store[k].view)
		:: else ->
			if
			:: thread == 1 -> join(joined, memory[location].store[k].view)
			:: else
			fi
		fi;
		k = 0
	}
}

/* A plain load by the reader. */
inline load_plain(location, loads, result)
{
	atomic {
		assert(view[1].at[location] + 1 == memory[location].n);
		result = memory[location].store[view[1].at[location]].value;
		view[1].at[loads] = memory[loads].n;
		memory[loads].n++
	}
}

/* The writer is about to store plainly. */
inline know_loads(loads)
{
	assert(view[0].at[loads] + 1 == memory[loads].n)
}

inline put(thread, location, release, what)
{
	atomic {
		k = memory[location].n;
		assert(k < STORES);
		memory[location].store[k].value = what;
		view[thread].at[location] = k;
		if
		:: release -> join(memory[location].store[k].view, view[thread])
		:: else ->
			if
			:: thread == 0 -> join(memory[location].store[k].view, lent)
			:: else
			fi;
			memory[location].store[k].view.at[location] = k
		fi;
		memory[location].n = k + 1;
		k = 0
	}
}

inline release_fence()
{
	if
	:: FENCE_REL -> atomic { join(lent, view[0]) }
	:: else
	fi
}

inline acquire_fence()
{
	if
	:: FENCE_ACQ -> atomic { join(view[1], joined) }
	:: else
	fi
}

/* ---- the writer --------------------------------------------------------------------------------- */

byte stored, lost;                        /* of the writer; the reader does not look */

proctype writer()
{
	byte chunk = NONE, used = SLOTS, number = 0, events = 0, taken, state;

	do
	:: events < EVENTS ->
		if
		:: used == SLOTS ->
			taken = NONE;
#ifdef OVERWRITE
			taken = number % 2;
#else
			load(0, STATE(0), FREE_ACQ, state);
			if
			:: state == 0 -> taken = 0
			:: else ->
				load(0, STATE(1), FREE_ACQ, state);
				if
				:: state == 0 -> taken = 1
				:: else
				fi
			fi;
#endif
			if
			:: taken != NONE ->
				number++;
#ifndef OVERWRITE
				know_loads(LOADS(taken, 2));
#endif
				put(0, NUMBER(taken), 0, number);
#ifdef OVERWRITE
				release_fence();
#else
				put(0, NEXT(taken), 0, 0);
				put(0, STATE(taken), 0, 1);
				if
				:: chunk == NONE -> put(0, FIRST, LINK_REL, taken + 1)
				:: else -> put(0, NEXT(chunk), LINK_REL, taken + 1)
				fi;
#endif
				chunk = taken;
				used = 0
			:: else
			fi
		:: else
		fi;
		if
		:: used < SLOTS ->
			stored++;
#ifdef OVERWRITE
			put(0, PAYLOAD(chunk, used), 0, number);
#else
			know_loads(LOADS(chunk, used));
			put(0, PAYLOAD(chunk, used), 0, stored);
#endif
			put(0, HEADER(chunk, used), HDR_REL, number);
			used++
		:: else -> lost++
		fi;
		events++
	:: else -> break
	od
}

/* ---- the readers -------------------------------------------------------------------------------- */

#ifndef OVERWRITE
proctype drain()
{
	byte chunk = NONE, event = SLOTS, number = 0, next, header, payload, taken = 0, looks = 0;

	do
	:: looks < 8 ->
		if
		:: event == SLOTS ->
			if
			:: chunk == NONE -> load(1, FIRST, LINK_ACQ, next)
			:: else -> load(1, NEXT(chunk), LINK_ACQ, next)
			fi;
			if
			:: next != 0 ->
				if
				:: chunk != NONE -> put(1, STATE(chunk), FREE_REL, 0)
				:: else
				fi;
				chunk = next - 1;
				event = 0;
				load_plain(NUMBER(chunk), LOADS(chunk, 2), number)
			:: else -> looks++
			fi
		:: else ->
			load(1, HEADER(chunk, event), HDR_ACQ, header);
			if
			:: header == number && number != 0 ->
				load_plain(PAYLOAD(chunk, event), LOADS(chunk, event), payload);
				assert(payload == taken + 1);   /* each event, once, in order, whole */
				taken++;
				event++
			:: else -> looks++
			fi
		fi
	:: else -> break
	od
}
#else
proctype live()
{
	byte chunk = 0, event = 0, number, header, payload, again, looks = 0;

	do
	:: looks < 3 ->
		if
		:: chunk = 0
		:: chunk = 1
		fi;
		if
		:: event = 0
		:: event = 1
		fi;
		load(1, NUMBER(chunk), 1, number);
		load(1, HEADER(chunk, event), HDR_ACQ, header);
		load(1, PAYLOAD(chunk, event), 0, payload);
		acquire_fence();
		load(1, NUMBER(chunk), 0, again);
		assert(!(number != 0 && header == number && again == number) || payload == number);
		looks++
	:: else -> break
	od
}
#endif

init
{
	byte i = 0;

	atomic {
		do
		:: i < LOCATIONS -> memory[i].n = 1; i++
		:: else -> break
		od;
		run writer();
#ifdef OVERWRITE
		run live()
#else
		run drain()
#endif
	}
}
