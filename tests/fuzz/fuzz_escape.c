/* SPDX-License-Identifier: MIT */
/*
 * fuzz_escape - escapes text for a terminal.  The first byte decides how the text is divided into pieces, and its kind.
 * The result must be harmless and independent of the pieces, and harmless text must not change.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wellformed.h"
#include "base/t2x_escape.h"

enum { ROOM = 6 * 65536 };

struct text {
	char at[ROOM];
	size_t n;
};

static void append(void *to, const char *text, size_t n)
{
	struct text *kept = to;

	if (n > ROOM - kept->n)
		abort();
	memcpy(kept->at + kept->n, text, n);
	kept->n += n;
}

static void escape(struct text *to, const char *text, size_t n, size_t piece, int is_json)
{
	struct t2x_escape how = { .put = append, .to = to, .is_json = is_json };

	to->n = 0;
	for (size_t at = 0; at < n; at += piece)
		t2x_escape_text(&how, text + at, n - at < piece ? n - at : piece);
	t2x_escape_end(&how);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct text whole, cut;
	const char *text = (const char *)bytes + 1, *wrong;

	fuzz_begin();
	if (n < 2 || n > ROOM / 6)
		return 0;
	escape(&whole, text, n - 1, n, bytes[0] & 1);
	escape(&cut, text, n - 1, 1u + bytes[0] / 2 % 16, bytes[0] & 1);
	wrong = wellformed_screen(whole.at, whole.n);
	if (wrong)
		fuzz_fail("escaped", wrong, whole.at, whole.n);
	if (whole.n != cut.n || memcmp(whole.at, cut.at, cut.n))
		fuzz_fail("escaped", "different in pieces", cut.at, cut.n);
	if (!wellformed_screen(text, n - 1) && (whole.n != n - 1 || memcmp(whole.at, text, n - 1)))
		fuzz_fail("escaped", "harmless text has changed", whole.at, whole.n);
	return 0;
}
