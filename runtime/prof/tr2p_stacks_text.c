/* SPDX-License-Identifier: MIT */
/* tr2p_stacks_text.c - see tr2p_stacks_text.h. */
#include "tr2p_stacks_text.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "tlg.h"
#include "tr2p_labels.h"
#include "tr2p_module.h"

static const char *const waits[] = {
	[TR2P_WAIT_MUTEX] = "a mutex", [TR2P_WAIT_RWLOCK] = "a rwlock", [TR2P_WAIT_SPIN] = "a spin lock",
	[TR2P_WAIT_COND] = "a condition variable", [TR2P_WAIT_JOIN] = "the end of thread",
	[TR2P_WAIT_BARRIER] = "a barrier", [TR2P_WAIT_SEM] = "a semaphore"
};

void tr2p_print(struct t2x_out *out, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	t2x_out_string(out, line);
}

void tr2p_print_place(struct t2x_out *out, const char *before, uintptr_t at, const struct tr2p_module *module)
{
	Dl_info info;

	if (dladdr((const void *)at, &info) && info.dli_sname)
		tr2p_print(out, "%s%s+0x%" PRIxPTR, before, info.dli_sname, at - (uintptr_t)info.dli_saddr);
	if (module)
		tr2p_print(out, " (%s+0x%" PRIxPTR ")", module->path, at - module->bias);
	t2x_out_char(out, '\n');
}

static void print_head(struct t2x_out *out, const struct tr2p_stacks_thread *thread)
{
	/* of one that has not answered there is what another one has left here, or a handler is just writing */
	const char *const *list = thread->has_stack ? tr2p_labels_list(thread->labels) : NULL;

	tr2p_print(out, "thread %d \"%s\"", (int)thread->tid, thread->name);
	if (thread->has_stack && thread->is_waiting)
		tr2p_print(out, " [waits for %s %p, %" PRIu64 ".%03u s]", waits[thread->wait_kind],
			   thread->wait_object, thread->wait_ns / 1000000000,
			   (unsigned)(thread->wait_ns / 1000000 % 1000));
	for (; list && list[0]; list += 2)
		tr2p_print(out, " %s=%s", list[0], list[1]);
	t2x_out_literal(out, ":\n");
}

static void print_frame(struct t2x_out *out, unsigned i, uintptr_t at)
{
	if (at == TR2P_CUT) {
		tr2p_print(out, "%s\n", TLG_STACK_CUT);
		return;
	}
	tr2p_print(out, "#%-3u 0x%016" PRIxPTR, i, at);
	tr2p_print_place(out, " in ", at, tr2p_module_of(at, NULL));
}

int tr2p_stacks_write(const struct tr2p_stacks_thread *threads, unsigned n, t2x_write_fn *write, void *target)
{
	struct t2x_out out;
	int error;

	if (t2x_out_init_fn(&out, write, target))
		return ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		if (!threads[i].tid)
			continue;
		print_head(&out, &threads[i]);
		for (unsigned k = 0; k < threads[i].stack.n && threads[i].has_stack; k++)
			print_frame(&out, k, threads[i].stack.at[k]);
		if (!threads[i].has_stack)
			t2x_out_literal(&out, "did not answer: it blocks the signal, or the kernel has it\n");
		t2x_out_char(&out, '\n');
	}
	error = t2x_out_flush(&out);
	t2x_out_free(&out);
	return error;
}
