/* SPDX-License-Identifier: MIT */
/* fuzz_file - the input is a .tlg file, mostly with checksums that are right. */
#include "fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed)
{
	n = LLVMFuzzerMutate(bytes, n, max);
	if (seed % 8)
		fuzz_reseal(bytes, n);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_expand(bytes, n, NULL, FUZZ_ONE_FORMAT);
	return 0;
}
