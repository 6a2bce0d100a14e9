/* SPDX-License-Identifier: MIT */
/* t2x_tree.c - the writer: collects the nodes. */
#include "t2x_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "t2x_formats.h"
#include "t2x_text.h"

enum {
	FIRST_NODES = 64,
	LOOKED_AT = 1024,         /* open children that are compared with the id of one that ends */
};

static const char ellipsis[] = "...";

/* ---- text --------------------------------------------------------------------------------------- */

/* Store the beginning of a command line.  Each line is a process, so control characters become '?'. */
static int put_command(void *target, const char *text, size_t n)
{
	struct t2x_tree *tree = target;

	for (size_t i = 0; i < n && tree->length + i < T2X_TREE_COMMAND; i++) {
		unsigned char c = (unsigned char)text[i];
		tree->command[tree->length + i] = (char)(c < ' ' || c == 0x7f ? '?' : c);
	}
	tree->length += n;
	return 0;
}

/* Return  where to truncate a text that is too long: between characters, with room for the dots */
static size_t find_end(const char *text)
{
	size_t n = T2X_TREE_COMMAND - sizeof(ellipsis);

	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* Copy a text and count its bytes.  Return  NULL: no memory, or the limit is reached */
static char *copy_text(struct t2x_tree *tree, const char *text, size_t n)
{
	char *copy = n < T2X_TREE_BYTES - tree->bytes ? malloc(n + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	tree->bytes += n + 1;
	return copy;
}

static void forget_text(struct t2x_tree *tree, char *text)
{
	if (text)
		tree->bytes -= strlen(text) + 1;
	free(text);
}

/* Make what was printed to tree->quote the text, in place of the one before. */
static void set_text(struct t2x_tree *tree, char **text)
{
	size_t n;

	t2x_out_flush(&tree->quote);   /* put_command() has got the beginning of a long one already */
	n = tree->length;
	tree->length = 0;
	if (n > T2X_TREE_COMMAND) {
		n = find_end(tree->command);
		memcpy(tree->command + n, ellipsis, sizeof(ellipsis) - 1);
		n += sizeof(ellipsis) - 1;
	}
	forget_text(tree, *text);
	*text = copy_text(tree, tree->command, n);
}

/* The same for the command line of a node, unless it has a better one. */
static void set_command(struct t2x_tree *tree, struct t2x_node *node, enum t2x_tree_rank rank)
{
	set_text(tree, &node->command);
	node->rank = (uint8_t)rank;
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static int begin_tree(struct t2x_printer *printer)
{
	struct t2x_tree *tree = calloc(1, sizeof(*tree));

	if (tree && t2x_out_init_fn(&tree->quote, put_command, tree)) {
		free(tree);
		tree = NULL;
	}
	printer->own = tree;
	return tree ? 0 : -ENOMEM;
}

static int make_room(struct t2x_tree *tree)
{
	unsigned max = tree->max ? 2 * tree->max : FIRST_NODES;
	struct t2x_node **nodes;

	if (tree->n < tree->max)
		return 1;
	nodes = max <= T2X_TREE_NODES ? realloc(tree->nodes, max * sizeof(nodes[0])) : NULL;
	if (!nodes)
		return 0;
	tree->nodes = nodes;
	tree->max = max;
	return 1;
}

/* Return  NULL: no memory, or the limit is reached; the node was counted */
static struct t2x_node *new_node(struct t2x_tree *tree, const struct t2x_process *process, const char *sid)
{
	struct t2x_node *node = make_room(tree) ? calloc(1, sizeof(*node)) : NULL;

	if (node)
		node->sid = copy_text(tree, sid, strlen(sid));
	if (!node || !node->sid) {
		free(node);
		tree->left_out++;
		return NULL;
	}
	node->stream = process->stream;
	node->utcoff = process->utcoff;
	node->order = tree->n;
	tree->nodes[tree->n++] = node;
	return node;
}

/* The node of all processes beyond the maximum, so that each is counted only once. */
static struct t2x_node no_node;

static struct t2x_node *add_process(struct t2x_tree *tree, const struct t2x_event *ev)
{
	const struct t2x_process *process = ev->thread->process;
	struct t2x_node *node = new_node(tree, process, process->sid);

	if (node) {
		node->has_pid = 1;
		node->first_ns = ev->ns;
		node->start_ns = process->start_ns ? process->start_ns : ev->ns;
	}
	if (tree->by_stream.count < 2 * T2X_TREE_NODES)
		t2x_map_put(&tree->by_stream, process->stream, node ? node : &no_node);
	return node;
}

/* If reading begins in the middle of a stream, the session id comes with the next cycle. */
static void learn_process(struct t2x_tree *tree, struct t2x_node *node, const struct t2x_process *process)
{
	char *sid;

	node->pid = process->pid;
	node->start_ticks = process->start_ticks;
	if (node->sid[0] || !process->sid[0])
		return;
	sid = copy_text(tree, process->sid, strlen(process->sid));
	if (!sid)
		return;
	forget_text(tree, node->sid);
	node->sid = sid;
}

/* Find the node of the event's process, and note that the process lives.  Return  NULL: it has no node */
static struct t2x_node *follow(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_tree *tree = printer->own;
	struct t2x_node *node;

	node = t2x_map_get(&tree->by_stream, ev->thread->process->stream);
	if (!node)
		node = add_process(tree, ev);
	if (!node || node == &no_node)
		return NULL;
	learn_process(tree, node, ev->thread->process);
	if (!node->is_closed && ev->ns > node->last_ns)
		node->last_ns = ev->ns;
	return node;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static void print_any(struct t2x_printer *printer, const struct t2x_event *ev)
{
	follow(printer, ev);
}

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_node *node = follow(printer, ev);
	struct t2x_tree *tree = printer->own;

	if (!node || node->rank >= T2X_TREE_ARGV)
		return;
	t2x_text_argv(&tree->quote, ev->args, ev->nargs);
	set_command(tree, node, T2X_TREE_ARGV);
}

static void name_process(struct t2x_printer *printer, const struct t2x_event *ev, const struct t2x_arg *name,
			 enum t2x_tree_rank rank)
{
	struct t2x_node *node = follow(printer, ev);
	struct t2x_tree *tree = printer->own;

	if (!node || node->rank >= rank)
		return;
	t2x_text_quoted(&tree->quote, name->text, name->length);
	set_command(tree, node, rank);
}

static void print_cmd_path(struct t2x_printer *printer, const struct t2x_event *ev)
{
	name_process(printer, ev, &ev->args[0], T2X_TREE_PATH);
}

static void print_cmd_name(struct t2x_printer *printer, const struct t2x_event *ev)
{
	name_process(printer, ev, &ev->args[T2X_NAME_OWN], T2X_TREE_NAME);
}

/* What the process does, of several things that its program can do; the last one if it says more than one. */
static void print_cmd_mode(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_node *node = follow(printer, ev);
	struct t2x_tree *tree = printer->own;

	if (!node)
		return;
	t2x_text_quoted(&tree->quote, ev->args[0].text, ev->args[0].length);
	set_text(tree, &node->mode);
}

static void end_process(struct t2x_printer *printer, const struct t2x_event *ev, enum t2x_tree_end end, int is_closed)
{
	struct t2x_node *node = follow(printer, ev);

	if (!node || (node->is_closed && !is_closed))
		return;
	node->end = (uint8_t)end;
	node->value = end == T2X_TREE_EXEC ? 0 : ev->args[0].value;
	node->is_closed = (uint8_t)is_closed;
	node->last_ns = ev->ns;
}

/* Note the code; the process has not ended yet. */
static void print_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	end_process(printer, ev, T2X_TREE_CODE, 0);
}

static void print_atexit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	end_process(printer, ev, T2X_TREE_CODE, 1);
}

static void print_signal(struct t2x_printer *printer, const struct t2x_event *ev)
{
	end_process(printer, ev, T2X_TREE_SIGNAL, 1);
}

static void print_exec(struct t2x_printer *printer, const struct t2x_event *ev)
{
	end_process(printer, ev, T2X_TREE_EXEC, 1);
}

/* This event comes only if the exec has failed. */
static void print_exec_result(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_node *node = follow(printer, ev);

	if (!node || node->end != T2X_TREE_EXEC)
		return;
	node->end = T2X_TREE_OPEN;
	node->is_closed = 0;
	node->last_ns = ev->ns;
}

/* ---- children ----------------------------------------------------------------------------------- */

static void print_child_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_node *parent = follow(printer, ev), *child;
	struct t2x_tree *tree = printer->own;
	unsigned words = ev->nargs - T2X_CHILD_ARGV;

	child = parent ? new_node(tree, ev->thread->process, "") : NULL;
	if (!child)
		return;
	child->is_child = 1;
	child->child_id = ev->args[T2X_CHILD_ID].value;
	child->start_ns = child->first_ns = child->last_ns = ev->ns;
	child->parent = parent;
	child->next = parent->open;
	parent->open = child;
	if (ev->args[T2X_CHILD_FLAGS].value & TLG_CHILD_GIT)
		t2x_out_string(&tree->quote, words ? "git " : "git");
	t2x_text_argv(&tree->quote, ev->args + T2X_CHILD_ARGV, words);
	set_command(tree, child, T2X_TREE_ARGV);
}

/* Remove the child with the event's id from the open children.  Return  NULL: there is none */
static struct t2x_node *close_child(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_node *parent = follow(printer, ev), **at, *child;
	unsigned steps = 0;

	if (!parent)
		return NULL;
	for (at = &parent->open; (child = *at) && steps < LOOKED_AT; at = &child->next, steps++) {
		if (child->child_id != ev->args[0].value)
			continue;
		*at = child->next;
		child->next = NULL;
		child->pid = ev->args[T2X_CHILD_PID].value;
		child->has_pid = 1;
		child->last_ns = ev->ns;
		return child;
	}
	return NULL;
}

static void print_child_exit(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_node *child = close_child(printer, ev);

	if (!child)
		return;
	child->end = T2X_TREE_CODE;
	child->value = ev->args[T2X_CHILD_CODE].value;
	child->is_closed = 1;
}

/* The child runs in the background, and nobody waits for it. */
static void print_child_ready(struct t2x_printer *printer, const struct t2x_event *ev)
{
	close_child(printer, ev);
}

/* ---- the writer --------------------------------------------------------------------------------- */

static void finish_tree(struct t2x_printer *printer)
{
	struct t2x_tree *tree = printer->own;

	t2x_tree_show(tree, printer);
	for (unsigned i = 0; i < tree->n; i++) {
		free(tree->nodes[i]->sid);
		free(tree->nodes[i]->command);
		free(tree->nodes[i]->mode);
		free(tree->nodes[i]);
	}
	free(tree->nodes);
	t2x_map_free(&tree->by_stream);
	t2x_out_free(&tree->quote);
	free(tree);
	printer->own = NULL;
}

/* These events only show that the process lives. */
#define print_version print_any
#define print_too_many_files print_any
#define print_error print_any
#define print_cmd_ancestry print_any
#define print_snapshot print_any
#define print_alias print_any
#define print_thread_start print_any
#define print_thread_exit print_any
#define print_def_param print_any
#define print_def_repo print_any
#define print_region_enter print_any
#define print_region_leave print_any
#define print_data print_any
#define print_data_intmax print_any
#define print_data_json print_any
#define print_printf print_any
#define print_timer print_any
#define print_th_timer print_any
#define print_counter print_any
#define print_th_counter print_any
#define print_step print_any
#define print_region_unwind NULL   /* the model makes an event of each leave */
#define print_sample print_any

const struct t2x_writer t2x_writer_tree = {
	.begin = begin_tree,
	.finish = finish_tree,
	.unresolved = print_any,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_##kind,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
