/* SPDX-License-Identifier: MIT */
/* fuzz_layout - the input is a --layout document, a NUL, and a file of that layout. */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *nul = n ? memchr(bytes, 0, n) : NULL;
	size_t length = nul ? (size_t)(nul - bytes) : n;
	struct t2x_layout layout;
	const char *why = NULL;

	fuzz_begin();
	if (t2x_layout_parse(&layout, (const char *)bytes, length, &why)) {
		if (!why)
			fuzz_fail("layout", "refused without a reason", "", 0);
		return 0;
	}
	if (nul)
		fuzz_expand(nul + 1, n - length - 1, &layout);
	t2x_layout_free(&layout);
	return 0;
}
