/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what the fuzz targets (tests/torture/fuzz_*.c) share.
 *
 * A target is LLVMFuzzerTestOneInput(), which ends the program when something is wrong, as libFuzzer and AFL++
 * call it; fuzzmain.c is for neither of them.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "t2x_layout.h"
#include "t2x_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Of the fuzzer, or of fuzzmain.c: change the n bytes in any way.  Return  how many there are, at most max */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);

/* What a target with a mutator of its own defines; fuzzmain.c has one that only calls LLVMFuzzerMutate(). */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed);

/* Which formats an input is expanded in: all of them; one, which the bytes decide, and five times as many inputs. */
enum fuzz_formats { FUZZ_ALL_FORMATS, FUZZ_ONE_FORMAT };

/*
 * Let expand make a text by text writers: it must be well formed (wellformed.h), as it goes to a file and as it goes
 * to a terminal.  n bytes  the input
 */
typedef void fuzz_expand_fn(void *source, const struct t2x_writer *writer, struct t2x_out *out);
void fuzz_texts(fuzz_expand_fn *expand, void *source, const void *bytes, size_t n, enum fuzz_formats formats);

/* Expand the bytes, as a text or as a listing.  layout  NULL, or a foreign one */
void fuzz_expand(const void *bytes, size_t n, const struct t2x_layout *layout, enum fuzz_formats formats);

/* Make every block in native byte order good again: its checksum, as of the stream that the latest CYCLE names. */
void fuzz_reseal(uint8_t *bytes, size_t n);

/* Say what is wrong with the text, and end the program. */
void fuzz_fail(const char *what, const char *wrong, const char *text, size_t n) __attribute__((noreturn));

#endif
