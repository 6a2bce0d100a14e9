/* SPDX-License-Identifier: MIT */
/*
 * scope.c - a region by its two calls, and the same by TRACE2_SCOPE(), for check_instructions.sh to count the
 * instructions of.  The same file is C and C++, where what is called in the region may throw.
 *
 * usage: scope pair|scope N
 */
#include <stdlib.h>
#include <string.h>

#include <trace2.h>

#ifdef __cplusplus
extern "C" {
#endif
void inside(void);   /* made apart: the compiler does not know what it does */
void count_pair(int n);
void count_scope(int n);
#ifdef __cplusplus
}
#endif

#ifndef COUNT_INSIDE
void __attribute__((noinline)) count_pair(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter("counted", "pair", NULL);
		inside();
		trace2_region_leave("counted", "pair", NULL);
	}
}

void __attribute__((noinline)) count_scope(int n)
{
	for (int i = 0; i < n; i++) {
		TRACE2_SCOPE("counted", "scope");
		inside();
	}
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (n <= 0)
		return 2;
	trace2_initialize();
	if (!strcmp(argv[1], "pair"))
		count_pair(n);
	else
		count_scope(n);
	return 0;
}
#else
void inside(void)
{
}
#endif
