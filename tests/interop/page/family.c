/* SPDX-License-Identifier: MIT */
/*
 * family - a program that starts itself, for what a page shows of processes.
 *
 * usage: family GENERATIONS    Two children at a time, each with one generation less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>

enum { CHILDREN = 2 };

static void start(struct trace2_child *child, const char **argv)
{
	child->argv = argv;
	trace2_child_start(child);
	child->pid = fork();
	if (!child->pid) {
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
}

static void await(struct trace2_child *child)
{
	int status = 0;

	waitpid(child->pid, &status, 0);
	trace2_child_exit(child, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	struct trace2_child children[CHILDREN] = { 0 };
	int generations = argc > 1 ? atoi(argv[1]) : 0;
	char less[12];
	const char *words[] = { argv[0], less, NULL };

	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	snprintf(less, sizeof(less), "%d", generations - 1);
	trace2_region_enter("family", "life", NULL);
	for (int i = 0; generations > 0 && i < CHILDREN; i++)
		start(&children[i], words);
	for (int i = 0; generations > 0 && i < CHILDREN; i++)
		await(&children[i]);
	trace2_region_leave("family", "life", NULL);
	trace2_cmd_exit(0);
	return 0;
}
