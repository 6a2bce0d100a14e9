/* SPDX-License-Identifier: MIT */
/* bench_bare - a program without the library, for bench_start to compare with.  It does nothing. */
int main(void)
{
	return 0;
}
