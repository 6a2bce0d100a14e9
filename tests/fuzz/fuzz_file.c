/* SPDX-License-Identifier: MIT */
/* fuzz_file - the input is a .tlg file, mostly with checksums that are right. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_begin();
	fuzz_expand(bytes, n, NULL);
	return 0;
}
