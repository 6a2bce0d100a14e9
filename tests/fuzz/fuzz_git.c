/* SPDX-License-Identifier: MIT */
/*
 * fuzz_git - the input is what `t2 import' reads: lines of git's event target.  The trace that it makes has no damage,
 * and every writer prints it well-formed.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "expanding.h"
#include "import/t2x_import.h"

enum { MOST = 8 * 1024 * 1024 };

static struct trace {
	char *at;
	size_t n;
} trace;

static int keep(void *owner, const void *bytes, size_t n)
{
	(void)owner;
	if (trace.n + n > MOST)
		return -1;
	trace.at = realloc(trace.at, trace.n + n);
	if (!trace.at)
		abort();
	memcpy(trace.at + trace.n, bytes, n);
	trace.n += n;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct t2x_raw_sink sink = { .write = keep };
	struct t2x_import_rest rest = { 0 };
	struct t2x_import *import;
	struct expanding got;
	struct t2x_out out;

	fuzz_begin();
	import = t2x_import_new(&sink, T2X_IMPORT_VERBOSE);
	if (!import)
		abort();
	/* in two pieces, which may cut a line anywhere */
	if (t2x_import_bytes(import, &rest, (const char *)bytes, n / 2) ||
	    t2x_import_bytes(import, &rest, (const char *)bytes + n / 2, n - n / 2) ||
	    t2x_import_end(import, &rest) || t2x_import_flush(import, T2X_IMPORT_ALL))
		abort();
	t2x_import_free(import);
	if (trace.n && !sink.error && !t2x_out_init(&out, -1)) {
		got = expanding_run(trace.at, trace.n, NULL, &t2x_writer_event, &out);
		if (got.damages || got.is_unusable || got.missing)
			fuzz_fail("damage in an imported trace", "", (const char *)bytes, n);
		t2x_out_free(&out);
	}
	free(trace.at);
	trace = (struct trace){ 0 };
	return 0;
}
