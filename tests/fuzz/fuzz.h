/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what the fuzz targets (tests/fuzz/fuzz_*.c) share.
 *
 * A target is LLVMFuzzerTestOneInput(), which ends the program when something is wrong, as libFuzzer and AFL++
 * call it; fuzzmain.c is for neither of them.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "model/t2x_writer.h"
#include "read/t2x_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Of the fuzzer, or of fuzzmain.c: change the n bytes in any way.  Return  how many there are, at most max */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);

/* What a target with a mutator of its own defines; fuzzmain.c has one that only calls LLVMFuzzerMutate(). */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed);

/*
 * Let expand make a text, which the n bytes of the input decide: it must be well formed (wellformed.h), as it goes to a
 * file and as it goes to a terminal.
 */
typedef void fuzz_expand_fn(void *source, const struct t2x_writer *writer, struct t2x_out *out);
void fuzz_texts(fuzz_expand_fn *expand, void *source, const void *bytes, size_t n);

/*
 * Expand the bytes, as a text or as a listing, which they decide; seven of eight files with checksums that are right.
 * So any fuzzer gets behind the checksums.  layout  NULL, or a foreign one
 */
void fuzz_expand(const void *bytes, size_t n, const struct t2x_layout *layout);

/*
 * Make good again what is checked before anything else is looked at: in a plain file the checksum of each block, as of
 * the stream that the latest CYCLE names; else those of marks and of headers of LZ4 frames.
 * layout  NULL: ours, in either byte order
 */
void fuzz_reseal(uint8_t *bytes, size_t n, const struct t2x_layout *layout);

/*
 * The target begins with an input: what it allocates and how long it computes are counted anew, and large pieces are
 * all free again.  More than 56 MiB at once, a large piece that is left, or 10 seconds of CPU time are wrong.
 */
void fuzz_begin(void);

/* Say what is wrong with the text, and end the program. */
void fuzz_fail(const char *what, const char *wrong, const char *text, size_t n) __attribute__((noreturn));

#endif
