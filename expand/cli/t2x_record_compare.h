/* SPDX-License-Identifier: MIT */
/*
 * t2x_record_compare.h - `t2 record --compare -- OLD... -- NEW...': runs two commands in turn, and compares the traces.
 *
 * Runs of one command, and then those of the other, would differ by whatever the machine did meanwhile.  So they come
 * in pairs, and each pair in the opposite order of the one before it.  What the programs print is theirs; what differs
 * is printed at the end, by `t2 diff'.
 */
#ifndef T2X_RECORD_COMPARE_H
#define T2X_RECORD_COMPARE_H

struct t2x_record_compare {
	const char *runs;                 /* of each command, as the user has it; NULL: 10 */
	const char *output;               /* a directory, which is made; NULL: by the name of the first program */
	char **argv;                      /* both commands, with "--" between them */
	/* Record one command into a file, in a process of its own.  Return  the exit status */
	int (*record)(void *data, const char *file, char **argv);
	void *data;
};

/*
 * Return  the exit status: that of t2 diff, 2 as its trouble; 126, 127 if a program cannot be run; a signal that ends a
 *         run, or asks us to end, ends us, too
 */
int t2x_record_compare(const struct t2x_record_compare *wanted);

#endif
