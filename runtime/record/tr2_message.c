/* SPDX-License-Identifier: MIT */
/* tr2_message.c - messages: deferred, or rendered here, on the stack if they are short. */
#include "tr2_message.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tr2_capture.h"
#include "tr2_emit.h"
#include "tr2_site.h"
#include "base/tr2_sys.h"

enum { SHORT_MESSAGE = 1024 };

static void emit_rendered(const struct tr2_scope_key *key, const char *text)
{
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_last(&args, text);
	tr2_emit(key, &args, TLG_RENDERED, 0);
}

static int render(char *to, size_t size, const char *format, struct tr2_va *va)
{
	va_list copy;
	int n;

	va_copy(copy, va->ap);
	n = vsnprintf(to, size, format, copy);
	va_end(copy);
	return n;
}

/* Memory of its own: the program's allocator may be what a signal handler has interrupted. */
static void emit_long(const struct tr2_scope_key *key, size_t bytes, struct tr2_va *va)
{
	char *text;

	if (bytes > TR2_TEXT_LIMIT)
		bytes = TR2_TEXT_LIMIT;
	text = tr2_sys_map(bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!text) {
		emit_rendered(key, key->format);
		return;
	}
	render(text, bytes + 1, key->format, va);
	emit_rendered(key, text);
	tr2_sys_unmap(text, bytes + 1);
}

/* Nothing of va has been used. */
static __attribute__((noinline)) void render_and_emit(const struct tr2_scope_key *key, struct tr2_va *va)
{
	char text[SHORT_MESSAGE];
	int saved = errno, n = render(text, sizeof(text), key->format, va);

	errno = saved;
	if (n < 0)
		emit_rendered(key, key->format);   /* what it asks for cannot be printed: show that it was asked */
	else if ((size_t)n < sizeof(text))
		emit_rendered(key, text);
	else
		emit_long(key, (size_t)n, va);
	errno = saved;
}

void tr2_emit_message(const struct tr2_scope_key *key, struct tr2_va *va)
{
	const struct tr2_site *site;
	struct tr2_site room;
	struct tr2_args args;

	tr2_args_init(&args);
	site = tr2_site_of(key, &room);
	if (site->format.take[0] == TR2_FORMAT_NOT_DEFERRED) {
		render_and_emit(key, va);
		return;
	}
	tr2_capture(&args.body, site->format.take, va, &args.room);
	tr2_emit_at(site, key, &args, 0, 0);
}

void tr2_emit_message_va(const struct tr2_scope_key *key, va_list ap)
{
	struct tr2_va va;

	va_copy(va.ap, ap);
	tr2_emit_message(key, &va);
	va_end(va.ap);
}
