/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what the fuzz targets (tests/fuzz/fuzz_*.c) share.
 *
 * A target is a function LLVMFuzzerTestOneInput(), which ends the program when something is wrong.  libFuzzer and AFL++
 * call it, or fuzzmain.c where neither of them is installed.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "model/t2x_writer.h"
#include "read/t2x_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* The fuzzer or fuzzmain.c has this: change the n bytes in any way.  Return  how many there are then, at most max */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);

/* A target may define its own mutator; that of fuzzmain.c only calls LLVMFuzzerMutate(). */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed);

/*
 * Call expand to make a text of the n bytes of the input.  The text must be well-formed (wellformed.h), both for a file
 * and for a terminal.
 */
typedef void fuzz_expand_fn(void *source, const struct t2x_writer *writer, struct t2x_out *out);
void fuzz_texts(fuzz_expand_fn *expand, void *source, const void *bytes, size_t n);

/*
 * Expand the bytes, as a text or as a listing, which the bytes decide.  Before that, correct the checksums of seven of
 * eight inputs, so that every fuzzer gets past them.  layout  NULL, or a foreign one
 */
void fuzz_expand(const void *bytes, size_t n, const struct t2x_layout *layout);

/*
 * Correct the checksums that a reader verifies first: in a plain file those of the blocks, for the stream that the
 * latest CYCLE names; else those of marks and of headers of LZ4 frames.
 * layout  NULL: ours, in either byte order
 */
void fuzz_reseal(uint8_t *bytes, size_t n, const struct t2x_layout *layout);

/*
 * A target calls this at the beginning of each input: it resets the counts of memory and time.  It is an error to
 * allocate more than 56 MiB at a time, not to free a large piece, or to use 10 seconds of CPU time.
 */
void fuzz_begin(void);

/* Report what is wrong with the text, and end the program. */
void fuzz_fail(const char *what, const char *wrong, const char *text, size_t n) __attribute__((noreturn));

#endif
