/* SPDX-License-Identifier: MIT */
/* t2x_html_data.c - see t2x_html_data.h. */
#include "t2x_html_data.h"

#include <errno.h>

#include "base/t2x_memory.h"
#include "profile/t2x_prof_kinds.h"
#include "text/t2x_json.h"

enum {
	CHUNK_BYTES = 6 * 1024 * 1024,    /* that all columns take, before they are deflated, ... */
	LEAST_CHUNK = 1024 * 1024,        /* ... and when there are as many names as there may be */
	/* beside itself and its session id: malloc's part of it, an entry of a map, one of an array while that grows */
	NAME_EXTRA = 16 + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *),
	FIRST_BYTES = 256,                /* of a column */
	VARINT_BYTES = 10,
};

/* ---- columns ------------------------------------------------------------------------------------ */

/* Return  where n bytes may be written; NULL: no memory */
static unsigned char *make_room(struct t2x_html_data *data, struct t2x_html_column *column, size_t n)
{
	size_t room = column->room ? column->room : FIRST_BYTES;
	unsigned char *bytes;

	if (column->room - column->length >= n)
		return column->bytes + column->length;
	while (room - column->length < n)
		room *= 2;
	bytes = t2x_realloc(column->bytes, room);
	if (!bytes) {
		data->error = -ENOMEM;
		return NULL;
	}
	data->bytes += room - column->room;
	column->bytes = bytes;
	column->room = room;
	return bytes + column->length;
}

static unsigned char *put_varint(unsigned char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (unsigned char)(value | 0x80);
	*to++ = (unsigned char)value;
	return to;
}

static void add_varint(struct t2x_html_data *data, struct t2x_html_column *column, uint64_t value)
{
	unsigned char *to = make_room(data, column, VARINT_BYTES);

	if (to)
		column->length += (size_t)(put_varint(to, value) - to);
}

/* 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static uint64_t code_signed(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static void add_text(struct t2x_html_data *data, struct t2x_html_column *column, const char *text, size_t n)
{
	unsigned char *to;

	add_varint(data, column, n);
	to = make_room(data, column, n);
	if (!to)
		return;
	memcpy(to, text, n);
	column->length += n;
}

static void free_column(struct t2x_html_column *column)
{
	t2x_free(column->bytes);
	*column = (struct t2x_html_column){ 0 };
}

/* ---- chunks ------------------------------------------------------------------------------------- */

static void put_number(struct t2x_html_block *block, uint64_t value)
{
	unsigned char bytes[VARINT_BYTES];

	t2x_html_block_put(block, bytes, (size_t)(put_varint(bytes, value) - bytes));
}

static void write_section(struct t2x_html_data *data, struct t2x_html_thread *thread)
{
	struct t2x_html_column *columns[] = { &thread->operations, &thread->times, &thread->values, &thread->texts };

	if (!thread->operations.length)
		return;
	put_number(data->block, thread->index);
	put_number(data->block, code_signed((int64_t)(thread->base_ns - data->epoch_ns)));
	put_number(data->block, thread->events);
	for (unsigned i = 0; i < 4; i++)
		put_number(data->block, columns[i]->length);
	for (unsigned i = 0; i < 4; i++) {
		t2x_html_block_put(data->block, columns[i]->bytes, columns[i]->length);
		free_column(columns[i]);
	}
	thread->base_ns = thread->clock_ns;
	thread->all_events += thread->events;
	thread->events = 0;
}

static void write_chunk(struct t2x_html_data *data)
{
	if (!data->bytes)
		return;
	t2x_html_block_begin(data->block, "chunk");
	for (uint32_t i = 0; i < data->thread_count; i++)
		write_section(data, data->threads[i]);
	t2x_html_block_end(data->block);
	data->bytes = 0;
}

/* What the names leave of the memory that they and the columns may have. */
static int is_chunk_full(const struct t2x_html_data *data)
{
	const size_t max = T2X_HTML_NAME_BYTES + LEAST_CHUNK, names = data->held + data->sites.held;

	return data->bytes >= LEAST_CHUNK && (data->bytes >= CHUNK_BYTES || data->bytes + names >= max);
}

/* ---- processes and threads ---------------------------------------------------------------------- */

/* Return  the array, with room for one more than count pointers; NULL: no memory, and it is as it was */
static void *grow(void *array, uint32_t count)
{
	if (count & (count - 1))
		return array;
	return t2x_realloc(array, (count ? 2 * (size_t)count : 1) * sizeof(void *));
}

/* Return  whether one more thread, of a process with this session id, may be remembered */
static int has_room(const struct t2x_html_data *data, const char *sid)
{
	return data->thread_count < T2X_HTML_THREADS && data->sid_bytes + strlen(sid) < T2X_HTML_SID_BYTES &&
	       data->held + data->sites.held < T2X_HTML_NAME_BYTES;
}

static struct t2x_html_process *add_process(struct t2x_html_data *data, const struct t2x_process *of)
{
	struct t2x_html_process *process = t2x_calloc(1, sizeof(*process));
	struct t2x_html_process **all = grow(data->by_index, data->process_count);

	data->by_index = all ? all : data->by_index;
	if (!process || !all || t2x_map_put(&data->processes, of->stream, process)) {
		t2x_free(process);
		return NULL;
	}
	if (!data->process_count)
		data->utcoff = of->utcoff;
	process->index = data->process_count;
	data->held += sizeof(*process) + NAME_EXTRA;
	data->by_index[data->process_count++] = process;
	return process;
}

static struct t2x_html_process *find_process(struct t2x_html_data *data, const struct t2x_process *of)
{
	struct t2x_html_process *process = t2x_map_get(&data->processes, of->stream);
	char *sid;

	if (!process && has_room(data, of->sid))
		process = add_process(data, of);
	if (!process || (process->sid && process->number == of->number))
		return process;
	sid = t2x_strndup(of->sid, strlen(of->sid));
	if (!sid)
		return process->sid ? process : NULL;
	data->sid_bytes += strlen(sid) + 1 - (process->sid ? strlen(process->sid) + 1 : 0);
	data->held += strlen(sid) + 16 - (process->sid ? strlen(process->sid) + 16 : 0);
	t2x_free(process->sid);
	process->sid = sid;
	process->pid = of->pid;
	process->start_ticks = of->start_ticks;
	process->number = of->number;
	return process;
}

static struct t2x_html_thread *add_thread(struct t2x_html_data *data, struct t2x_html_process *process, uint32_t tid,
					  uint64_t ns)
{
	struct t2x_html_thread *thread = t2x_calloc(1, sizeof(*thread));
	struct t2x_html_thread **all = grow(data->threads, data->thread_count);

	data->threads = all ? all : data->threads;
	if (!thread || !all || t2x_map_put(&process->threads, tid, thread)) {
		t2x_free(thread);
		return NULL;
	}
	if (!data->thread_count)
		data->epoch_ns = ns;
	thread->process = process;
	thread->tid = tid;
	thread->clock_ns = thread->base_ns = ns;
	thread->index = data->thread_count;
	data->held += sizeof(*thread) + NAME_EXTRA;
	data->threads[data->thread_count++] = thread;
	return thread;
}

static struct t2x_html_thread *find_thread(struct t2x_html_data *data, const struct t2x_thread *of, uint64_t ns)
{
	struct t2x_html_process *process = find_process(data, of->process);
	struct t2x_html_thread *thread = process ? t2x_map_get(&process->threads, of->tid) : NULL;

	if (process && !thread && has_room(data, ""))
		thread = add_thread(data, process, of->tid, ns);
	if (thread && (thread->number != of->number || !thread->name[0])) {
		memcpy(thread->name, of->name, sizeof(thread->name));
		thread->number = of->number;
	}
	return thread;
}

struct t2x_html_thread *t2x_html_thread(struct t2x_html_data *data, const struct t2x_thread *thread, uint64_t ns)
{
	struct t2x_html_thread *last = data->last;

	if (!(last && last->number == thread->number && last->number &&
	      last->process->number == thread->process->number))
		last = data->last = find_thread(data, thread, ns);
	data->left_out += !last;
	return last;
}

/* ---- events ------------------------------------------------------------------------------------- */

void t2x_html_event(struct t2x_html_data *data, struct t2x_html_thread *thread, uint64_t ns, uint64_t code,
		    const char *text, size_t length)
{
	if (__builtin_expect(is_chunk_full(data), 0))
		write_chunk(data);
	if (ns < thread->clock_ns) {
		add_varint(data, &thread->operations, 2 * T2X_HTML_CLOCK);
		add_varint(data, &thread->values, code_signed((int64_t)(ns - thread->clock_ns)));
		thread->clock_ns = ns;
	}
	add_varint(data, &thread->operations, code * 2 + (text != NULL));
	add_varint(data, &thread->times, ns - thread->clock_ns);
	if (text)
		add_text(data, &thread->texts, text, length);
	thread->clock_ns = ns;
	thread->events++;
}

void t2x_html_value(struct t2x_html_data *data, struct t2x_html_thread *thread, int64_t value)
{
	add_varint(data, &thread->values, code_signed(value));
}

void t2x_html_length(struct t2x_html_data *data, struct t2x_html_thread *thread, uint64_t ns)
{
	add_varint(data, &thread->values, ns);
}

void t2x_html_scale(struct t2x_html_data *data, struct t2x_html_thread *thread, double scale)
{
	const double parts = (scale - 1) * T2X_HTML_SCALE + 0.5;

	add_varint(data, &thread->values, parts < 0x1p63 ? (uint64_t)parts : UINT64_C(1) << 63);
}

void t2x_html_depth(struct t2x_html_data *data, struct t2x_html_thread *thread, unsigned depth)
{
	add_varint(data, &thread->operations, 2 * T2X_HTML_DEPTH);
	add_varint(data, &thread->values, depth);
	thread->depth = depth;
}

/* ---- the end ------------------------------------------------------------------------------------ */

static int put_facts(void *target, const char *text, size_t n)
{
	t2x_html_block_put(target, text, n);
	return 0;
}

static void print_processes(const struct t2x_html_data *data, struct t2x_out *out)
{
	for (uint32_t i = 0; i < data->process_count; i++) {
		const struct t2x_html_process *process = data->by_index[i];

		t2x_out_string(out, i ? ",[" : "[");
		t2x_out_uint(out, process->pid);
		t2x_out_literal(out, ",\"");
		t2x_json_escaped(out, process->sid, strlen(process->sid));
		t2x_out_literal(out, "\",\"");
		t2x_out_uint(out, process->start_ticks);   /* too large for a number of JavaScript */
		t2x_out_literal(out, "\"]");
	}
}

static void print_threads(const struct t2x_html_data *data, struct t2x_out *out)
{
	for (uint32_t i = 0; i < data->thread_count; i++) {
		const struct t2x_html_thread *thread = data->threads[i];

		t2x_out_string(out, i ? ",[" : "[");
		t2x_out_uint(out, thread->process->index);
		t2x_out_char(out, ',');
		t2x_out_uint(out, thread->tid);
		t2x_out_literal(out, ",\"");
		t2x_json_escaped(out, thread->name, strnlen(thread->name, sizeof(thread->name)));
		t2x_out_literal(out, "\",");
		t2x_out_uint(out, thread->all_events);
		t2x_out_char(out, ']');
	}
}

/* The last is that of all profiles which are not in the table. */
static void print_kinds(struct t2x_out *out)
{
	static const char *const units[] = {
		[T2X_PROF_time] = "time", [T2X_PROF_bytes] = "bytes", [T2X_PROF_count] = "count",
	};

	for (unsigned i = 0; i <= T2X_PROF_KINDS; i++) {
		const struct t2x_prof_kind *kind = i < T2X_PROF_KINDS ? &t2x_prof_kinds[i] : t2x_prof_kind_of(NULL);
		const struct t2x_prof_value *shown = &kind->form->value[kind->shown];
		const char *texts[][2] = {
			{ "{\"id\":\"", kind->name ? kind->name : "" },
			{ "\",\"recorded\":\"", kind->name ? t2x_prof_kinds[kind->recorded].name : "" },
			{ "\",\"title\":\"", kind->title },
			{ "\",\"choice\":\"", *shown->title ? shown->title : kind->title },
			{ "\",\"unit\":\"", units[kind->form->unit] },
			{ "\",\"each\":\"", kind->form->each },
			{ "\",\"lasts\":", kind->during == T2X_PROF_MOMENT ? "false" : "true" },
			{ ",\"isAll\":", shown->freed == T2X_PROF_GOES ? "true}" : "false}" },
		};

		t2x_out_string(out, i ? "," : "");
		for (unsigned k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			t2x_out_string(out, texts[k][0]);
			t2x_out_string(out, texts[k][1]);
		}
	}
}

static void print_facts(const struct t2x_html_data *data, struct t2x_out *out)
{
	t2x_out_literal(out, "{\"version\":");
	t2x_out_uint(out, T2X_HTML_VERSION);
	t2x_out_literal(out, ",\"epoch\":\"");
	t2x_out_uint(out, data->epoch_ns);
	t2x_out_literal(out, "\",\"utcoff\":");
	t2x_out_int(out, data->utcoff);
	t2x_out_literal(out, ",\"left_out\":");
	t2x_out_uint(out, data->left_out);
	if (data->source)
		t2x_json_text(out, "source", data->source, strlen(data->source));
	t2x_out_literal(out, ",\"processes\":[");
	print_processes(data, out);
	t2x_out_literal(out, "],\"threads\":[");
	print_threads(data, out);
	t2x_out_literal(out, "],\"sites\":");
	t2x_html_sites_print(&data->sites, out);
	t2x_out_literal(out, ",\"kinds\":[");
	print_kinds(out);
	t2x_out_literal(out, "],\"functions\":");
	t2x_html_stacks_print_functions(&data->stacks, out);
	t2x_out_literal(out, ",\"stacks\":");
	t2x_html_stacks_print(&data->stacks, out);
	t2x_out_literal(out, "}\n");
}

void t2x_html_finish(struct t2x_html_data *data)
{
	struct t2x_out facts;

	write_chunk(data);
	if (t2x_out_init_fn(&facts, put_facts, data->block)) {
		data->error = -ENOMEM;
		return;
	}
	t2x_html_block_begin(data->block, "facts");
	print_facts(data, &facts);
	t2x_out_flush(&facts);
	t2x_html_block_end(data->block);
	t2x_out_free(&facts);
}

static void free_thread(struct t2x_html_thread *thread)
{
	free_column(&thread->operations);
	free_column(&thread->times);
	free_column(&thread->values);
	free_column(&thread->texts);
	t2x_free(thread);
}

void t2x_html_free(struct t2x_html_data *data)
{
	for (uint32_t i = 0; i < data->thread_count; i++)
		free_thread(data->threads[i]);
	for (uint32_t i = 0; i < data->process_count; i++) {
		t2x_map_free(&data->by_index[i]->threads);
		t2x_free(data->by_index[i]->sid);
		t2x_free(data->by_index[i]);
	}
	t2x_free(data->threads);
	t2x_free(data->by_index);
	t2x_map_free(&data->processes);
	t2x_html_sites_free(&data->sites);
	t2x_html_stacks_free(&data->stacks);
	t2x_html_block_free(data->block);
}
