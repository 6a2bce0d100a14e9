/* SPDX-License-Identifier: MIT */
/*
 * t2x_tree.h - the processes of a run, and which process started which.
 *
 * While the events come, t2x_writer_tree makes a node for each stream and for each child that a process has started.
 * At the end t2x_tree_show() arranges and prints the nodes.  A process belongs below the process whose session id is
 * its own without the last part.  If a child is not traced, its node has what its parent reports: the words of the
 * command line, and at its end the process id and the exit code.
 *
 * Memory: T2X_TREE_NODES nodes and T2X_TREE_BYTES of text, about 30 MB in all.  Nodes beyond that are only counted.
 */
#ifndef T2X_TREE_H
#define T2X_TREE_H

#include "base/t2x_map.h"
#include "model/t2x_writer.h"

enum {
	T2X_TREE_NODES = 65536,
	T2X_TREE_BYTES = 8 * 1024 * 1024,
	T2X_TREE_COMMAND = 4096,          /* bytes of a command line; a longer one is truncated */
};

/* How a process ended, as far as it is known. */
enum t2x_tree_end { T2X_TREE_OPEN, T2X_TREE_EXEC, T2X_TREE_CODE, T2X_TREE_SIGNAL };

/* Where a command line comes from; a later member is better and replaces an earlier one. */
enum t2x_tree_rank { T2X_TREE_NO_NAME, T2X_TREE_NAME, T2X_TREE_PATH, T2X_TREE_ARGV };

struct t2x_node {
	unsigned order;                   /* number of the node, in the order of their creation, from 0 */
	uint32_t stream;
	int64_t pid;
	char *sid;                        /* "": unknown, as all children are */
	char *command;                    /* quoted, control characters replaced; NULL: unknown */
	char *mode;                       /* likewise; NULL: none was said */
	uint64_t start_ns;                /* since 1970-01-01 UTC */
	uint64_t start_ticks;             /* raw clock of the process */
	uint64_t first_ns, last_ns;       /* the first event, the last one; closed: the end */
	int32_t utcoff;
	int64_t value;                    /* T2X_TREE_CODE, T2X_TREE_SIGNAL: which */
	uint8_t end;                      /* enum t2x_tree_end */
	uint8_t rank;                     /* enum t2x_tree_rank */
	uint8_t is_closed;                /* last_ns is the end, not only the last event so far */
	uint8_t is_child;                 /* only its parent has reported it */
	uint8_t has_pid;
	uint8_t is_fork;                  /* continues another process: its forked child, or under its session id */
	uint8_t is_hidden;                /* arranging: another node shows it */
	int64_t child_id;
	struct t2x_node *open;            /* a process's children that have not ended, newest first */
	struct t2x_node *next;            /* collecting: in that list; showing: the next with the same parent */
	struct t2x_node *parent;
	struct t2x_node *head;            /* showing: of a fork the process that was forked; else the node itself */
	struct t2x_node *first;           /* showing: the first node below */
};

struct t2x_tree {
	struct t2x_node **nodes;
	unsigned n, max;
	size_t bytes;                     /* of text */
	uint64_t left_out;                /* nodes beyond the limits */
	struct t2x_map by_stream;
	struct t2x_out quote;             /* where command lines are put together, to end up in ... */
	char command[T2X_TREE_COMMAND];
	size_t length;                    /* of the whole command line, of which the beginning is stored */
};

/*
 * Print a line for each node: a parent above its children, and these in the order of their start.  The call changes the
 * order of nodes.  Without memory it prints only the number of processes.
 */
void t2x_tree_show(struct t2x_tree *tree, struct t2x_printer *printer);

#endif
