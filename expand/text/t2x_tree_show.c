/* SPDX-License-Identifier: MIT */
/* t2x_tree_show.c - finds the parent of each node, and prints the lines. */
#include "t2x_tree.h"

#include <stdlib.h>

#include "t2x_text.h"

enum { RESULT_WIDTH = 10, PID_WIDTH = 12 };   /* of these columns, with a blank behind them */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* NULL sorts before every node. */
static int compare_orders(const struct t2x_node *a, const struct t2x_node *b)
{
	if (a && b)
		return compare_numbers(a->order, b->order);
	return (a != NULL) - (b != NULL);
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Nodes without a session id come first, so all children, too. */
static int compare_sids(const void *a, const void *b)
{
	const struct t2x_node *x = *(struct t2x_node *const *)a, *y = *(struct t2x_node *const *)b;
	int order = strcmp(x->sid, y->sid);

	if (!order)
		order = compare_numbers((uint64_t)x->pid, (uint64_t)y->pid);
	return order ? order : compare_numbers(x->order, y->order);
}

static void swap(char **a, char **b)
{
	char *text = *a;

	*a = *b;
	*b = text;
}

/* Join the node of the same process in a later file, after a rotation. */
static void join_streams(struct t2x_node *node, struct t2x_node *later)
{
	later->is_hidden = 1;
	later->head = node;
	if (later->last_ns >= node->last_ns || later->is_closed) {
		node->last_ns = later->last_ns;
		node->is_closed = later->is_closed;
		if (later->end != T2X_TREE_OPEN) {
			node->end = later->end;
			node->value = later->value;
		}
	}
	if (later->rank > node->rank) {
		swap(&node->command, &later->command);
		node->rank = later->rank;
	}
	if (later->mode)
		swap(&node->mode, &later->mode);
}

/* Of n processes with one session id, the others are forks of the one of which most is known. */
static void match_forks(struct t2x_node **nodes, unsigned n)
{
	struct t2x_node *head = NULL;

	for (unsigned i = 0; i < n; i++)
		if (!nodes[i]->is_hidden && (!head || nodes[i]->rank > head->rank ||
					     (nodes[i]->rank == head->rank && nodes[i]->first_ns < head->first_ns)))
			head = nodes[i];
	for (unsigned i = 0; i < n; i++) {
		if (nodes[i]->is_hidden || nodes[i] == head)
			continue;
		nodes[i]->head = head;
		nodes[i]->is_fork = 1;
		nodes[i]->start_ns = nodes[i]->first_ns;
	}
}

/* Match processes with the same session id, which are neighbours. */
static void match_sids(struct t2x_node **nodes, unsigned n)
{
	unsigned from = 0;

	for (unsigned i = 0; i < n; i++) {
		struct t2x_node *last = i > from ? nodes[i - 1] : NULL;

		nodes[i]->head = nodes[i];
		if (last && strcmp(last->sid, nodes[i]->sid)) {
			match_forks(nodes + from, i - from);
			from = i;
		} else if (last && last->pid == nodes[i]->pid) {
			join_streams(last->is_hidden ? last->head : last, nodes[i]);
		}
	}
	match_forks(nodes + from, n - from);
}

/* The process with the first n bytes of text as its session id, or NULL. */
static struct t2x_node *find_sid(struct t2x_node **nodes, unsigned count, const char *text, size_t n)
{
	unsigned low = 0, high = count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		const char *sid = nodes[middle]->sid;
		int order = strncmp(sid, text, n);

		if (!order && !sid[n])
			return nodes[middle]->head->head;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A process with the start time of its parent is a fork of it: only a forked child inherits that time. */
static void find_fork(struct t2x_node *node)
{
	if (!node->start_ticks || node->start_ticks != node->parent->start_ticks)
		return;
	node->is_fork = 1;
	node->start_ns = node->first_ns;
}

static void find_parents(struct t2x_node **nodes, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *slash = strrchr(nodes[i]->sid, '/');

		if (slash)
			nodes[i]->parent = find_sid(nodes, n, nodes[i]->sid, (size_t)(slash - nodes[i]->sid));
		if (nodes[i]->parent)
			find_fork(nodes[i]);
	}
}

/* ---- children ----------------------------------------------------------------------------------- */

/* Return  the node's parent; for a fork the process that was forked, because both have the same session id */
static const struct t2x_node *find_family(const struct t2x_node *node)
{
	return node->parent ? node->parent->head : NULL;
}

static int compare_pids(const void *a, const void *b)
{
	const struct t2x_node *x = *(struct t2x_node *const *)a, *y = *(struct t2x_node *const *)b;
	int order = compare_orders(find_family(x), find_family(y));

	if (!order)
		order = compare_numbers((uint64_t)x->pid, (uint64_t)y->pid);
	if (!order)
		order = compare_numbers(x->start_ns, y->start_ns);
	return order ? order : compare_numbers(x->order, y->order);
}

/* The child and the process are the same: hide the child, after the process has got what only the parent knows. */
static void claim_child(struct t2x_node *child, struct t2x_node *process)
{
	child->is_hidden = 1;
	process->parent = child->parent;
	if (process->is_closed || !child->is_closed)
		return;
	process->is_closed = 1;
	process->end = child->end;
	process->value = child->value;
	process->last_ns = child->last_ns;
}

/* Match nodes with one parent and process id.  Process ids are reused, so the first child is the first process. */
static void match_pid(struct t2x_node **nodes, unsigned n)
{
	unsigned process = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!nodes[i]->is_child || nodes[i]->is_hidden)
			continue;
		while (process < n && (nodes[process]->is_child || nodes[process]->is_hidden))
			process++;
		if (process < n)
			claim_child(nodes[i], nodes[process++]);
	}
}

static void match_children(struct t2x_node **nodes, unsigned n)
{
	unsigned from = 0;

	for (unsigned i = 0; i < n; i++) {
		struct t2x_node *node = nodes[i];

		if (!node->is_child)
			continue;
		node->head = node;
		if (node->parent->is_hidden)
			node->parent = node->parent->head;
		/* Without a process id it may be any process, or one that was never started. */
		node->is_hidden = !node->has_pid;
	}
	qsort(nodes, n, sizeof(nodes[0]), compare_pids);   /* what follows changes parents, but not families */
	for (unsigned i = 1; i <= n; i++) {
		if (i < n && find_family(nodes[i]) == find_family(nodes[from]) && nodes[i]->pid == nodes[from]->pid)
			continue;
		if (nodes[from]->parent)
			match_pid(nodes + from, i - from);
		from = i;
	}
}

/* ---- the order of lines ------------------------------------------------------------------------- */

/* Hidden nodes last, others by parent, then by start, and a fork behind the process that was forked. */
static int compare_lines(const void *a, const void *b)
{
	const struct t2x_node *x = *(struct t2x_node *const *)a, *y = *(struct t2x_node *const *)b;
	int order = x->is_hidden - y->is_hidden;

	if (!order)
		order = compare_orders(x->parent, y->parent);
	if (!order)
		order = compare_numbers(x->head->start_ns, y->head->start_ns);
	if (!order)
		order = compare_numbers(x->head->order, y->head->order);
	if (!order)
		order = x->is_fork - y->is_fork;
	return order ? order : compare_numbers(x->order, y->order);
}

/* Link the nodes that are shown.  Return  the first root */
static struct t2x_node *link_nodes(struct t2x_node **nodes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		nodes[i]->next = nodes[i]->first = NULL;
	for (unsigned i = 0; i < n && !nodes[i]->is_hidden; i++) {
		struct t2x_node *node = nodes[i], *last = i ? nodes[i - 1] : NULL;

		if (last && last->parent == node->parent)
			last->next = node;
		else if (node->parent)
			node->parent->first = node;
	}
	return n && !nodes[0]->is_hidden ? nodes[0] : NULL;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static void pad(struct t2x_out *out, size_t from, size_t width)
{
	t2x_out_repeat(out, ' ', from < width ? width - from : 1);
}

/* "code:0    pid:4711    " */
static void print_result(struct t2x_out *out, const struct t2x_node *node)
{
	static const char *const names[] = {
		[T2X_TREE_OPEN] = "open", [T2X_TREE_EXEC] = "exec", [T2X_TREE_CODE] = "code:",
		[T2X_TREE_SIGNAL] = "signal:"
	};
	char digits[T2X_MAX_DIGITS];
	size_t n = 0;

	t2x_out_string(out, names[node->end]);
	if (node->end == T2X_TREE_CODE || node->end == T2X_TREE_SIGNAL)
		n = (size_t)(t2x_put_int(digits, node->value) - digits);
	t2x_out_bytes(out, digits, n);
	pad(out, strlen(names[node->end]) + n, RESULT_WIDTH);
	t2x_out_literal(out, "pid:");
	n = (size_t)(t2x_put_int(digits, node->pid) - digits);
	t2x_out_bytes(out, digits, n);
	pad(out, sizeof("pid:") - 1 + n, PID_WIDTH);
}

static void print_times(struct t2x_printer *printer, const struct t2x_node *node)
{
	struct t2x_process process = { .utcoff = node->utcoff };
	const struct t2x_thread thread = { .process = &process };
	const struct t2x_event ev = { .thread = &thread, .ns = node->start_ns };
	struct t2x_out *out = printer->out;
	uint64_t us = node->last_ns > node->start_ns ? t2x_us_between(node->start_ns, node->last_ns) : 0;

	if (!printer->options.brief) {
		out->pos = t2x_text_local_time(printer, t2x_out_room(out, 16), &ev);
		t2x_out_char(out, ' ');
	}
	t2x_out_seconds_us(out, us, 11);
	t2x_out_char(out, node->is_closed ? ' ' : '+');
	t2x_out_char(out, ' ');
}

/* goes_on  for each level above the node: whether a further node of that level follows */
static void print_branches(struct t2x_out *out, const struct t2x_node *node, const char *goes_on, unsigned level)
{
	for (unsigned i = 1; i < level; i++)
		t2x_out_bytes(out, goes_on[i] ? "|   " : "    ", 4);
	if (level)
		t2x_out_bytes(out, node->next ? "|-- " : "`-- ", 4);
}

/* Return  the command line; a fork has that of the process that was forked */
static const char *find_command(const struct t2x_node *node)
{
	while (node && !node->command)
		node = node->head != node ? node->head : node->is_fork ? node->parent : NULL;
	return node ? node->command : "?";
}

static void print_node(struct t2x_printer *printer, const struct t2x_node *node, const char *goes_on, unsigned level)
{
	struct t2x_out *out = printer->out;
	print_times(printer, node);
	print_result(out, node);
	print_branches(out, node, goes_on, level);
	t2x_out_string(out, find_command(node));
	if (node->mode) {
		t2x_out_literal(out, " [mode:");
		t2x_out_string(out, node->mode);
		t2x_out_char(out, ']');
	}
	if (node->is_fork)
		t2x_out_literal(out, " [fork]");
	if (node->is_child)
		t2x_out_literal(out, " [untraced]");
	t2x_out_char(out, '\n');
}

/* Print all nodes, without recursion: a tree may be as deep as there are processes. */
static void print_nodes(struct t2x_printer *printer, const struct t2x_node *node, char *goes_on)
{
	unsigned level = 0;

	while (node) {
		goes_on[level] = node->next != NULL;
		print_node(printer, node, goes_on, level);
		if (node->first) {
			node = node->first;
			level++;
			continue;
		}
		while (node && !node->next) {
			node = node->parent;
			level -= node != NULL;
		}
		node = node ? node->next : NULL;
	}
}

void t2x_tree_show(struct t2x_tree *tree, struct t2x_printer *printer)
{
	char *goes_on = malloc(tree->n + 1);
	uint64_t left_out = tree->left_out;
	unsigned children = 0;

	if (!goes_on)
		left_out += tree->n;
	if (goes_on && tree->n) {
		qsort(tree->nodes, tree->n, sizeof(tree->nodes[0]), compare_sids);
		while (children < tree->n && !tree->nodes[children]->sid[0]) {
			tree->nodes[children]->head = tree->nodes[children];
			children++;
		}
		match_sids(tree->nodes + children, tree->n - children);
		find_parents(tree->nodes + children, tree->n - children);
		match_children(tree->nodes, tree->n);
		qsort(tree->nodes, tree->n, sizeof(tree->nodes[0]), compare_lines);
		print_nodes(printer, link_nodes(tree->nodes, tree->n), goes_on);
	}
	free(goes_on);
	if (left_out) {
		t2x_out_uint(printer->out, left_out);
		t2x_out_literal(printer->out, " more processes: no room\n");
	}
}
