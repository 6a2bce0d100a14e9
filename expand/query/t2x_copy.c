/* SPDX-License-Identifier: MIT */
/* t2x_copy.c - see t2x_copy.h. */
#include "t2x_copy.h"

#include <stdlib.h>
#include <string.h>

struct t2x_scope_copy {
	struct t2x_scope scope;
	unsigned users;
	char text[];
};

struct t2x_thread_copy {
	struct t2x_thread thread;
	struct t2x_process process;
	unsigned users;
	char sid[];
};

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Move a text into a copy.  Return  the byte behind it */
static char *put_text(const char **text, char *to)
{
	size_t n = text_bytes(*text);

	if (!n)
		return to;
	memcpy(to, *text, n);
	*text = to;
	return to + n;
}

static void drop_scope(struct t2x_scope_copy *copy)
{
	if (copy && !--copy->users)
		free(copy);
}

static void drop_thread(struct t2x_thread_copy *copy)
{
	if (copy && !--copy->users)
		free(copy);
}

static struct t2x_scope_copy *copy_scope(struct t2x_copies *copies, const struct t2x_scope *scope)
{
	struct t2x_scope_copy **place = &copies->scopes[scope->number % T2X_COPY_SCOPES], *copy = *place;
	char *to;

	if (copy && scope->number && copy->scope.number == scope->number) {
		copy->users++;
		return copy;
	}
	copy = malloc(sizeof(*copy) + text_bytes(scope->file) + text_bytes(scope->category) + text_bytes(scope->label) +
		      text_bytes(scope->format));
	if (!copy)
		return NULL;
	copy->scope = *scope;
	to = put_text(&copy->scope.file, copy->text);
	to = put_text(&copy->scope.category, to);
	to = put_text(&copy->scope.label, to);
	put_text(&copy->scope.format, to);
	copy->users = 2;
	drop_scope(*place);
	*place = copy;
	return copy;
}

static struct t2x_thread_copy *copy_thread(struct t2x_copies *copies, const struct t2x_thread *thread)
{
	struct t2x_thread_copy **place = &copies->threads[thread->number % T2X_COPY_THREADS], *copy = *place;

	if (copy && thread->number && copy->thread.number == thread->number &&
	    copy->process.number == thread->process->number) {
		copy->users++;
		return copy;
	}
	copy = malloc(sizeof(*copy) + text_bytes(thread->process->sid));
	if (!copy)
		return NULL;
	copy->thread = *thread;
	copy->process = *thread->process;
	copy->thread.process = &copy->process;
	put_text(&copy->process.sid, copy->sid);
	copy->users = 2;
	drop_thread(*place);
	*place = copy;
	return copy;
}

/* The bytes of the event's texts. */
static size_t count_texts(const struct t2x_event *event)
{
	size_t n = event->message ? event->message_length : 0;

	for (unsigned i = 0; i < event->nargs; i++)
		n += event->args[i].text ? event->args[i].length : 0;
	return n;
}

static void copy_texts(struct t2x_event_copy *copy, const struct t2x_event *event)
{
	char *to = (char *)(copy->args + event->nargs);

	for (unsigned i = 0; i < event->nargs; i++) {
		copy->args[i] = event->args[i];
		if (!event->args[i].text)
			continue;
		copy->args[i].text = to;
		memcpy(to, event->args[i].text, event->args[i].length);
		to += event->args[i].length;
	}
	if (event->message) {
		memcpy(to, event->message, event->message_length);
		copy->event.message = to;
	}
	copy->event.args = copy->args;
}

struct t2x_event_copy *t2x_copy_event(struct t2x_copies *copies, const struct t2x_event *event)
{
	size_t bytes = sizeof(struct t2x_event_copy) + event->nargs * sizeof(struct t2x_arg) + count_texts(event);
	struct t2x_event_copy *copy = malloc(bytes);

	if (!copy)
		return NULL;
	*copy = (struct t2x_event_copy){ .event = *event, .bytes = bytes };
	copy_texts(copy, event);
	copy->thread = copy_thread(copies, event->thread);
	copy->scope = event->scope ? copy_scope(copies, event->scope) : NULL;
	if (!copy->thread || (event->scope && !copy->scope)) {
		t2x_copy_free(copy);
		return NULL;
	}
	copy->event.thread = &copy->thread->thread;
	copy->event.scope = copy->scope ? &copy->scope->scope : NULL;
	if (event->lost) {
		copy->lost = *event->lost;
		copy->event.lost = &copy->lost;
	}
	return copy;
}

void t2x_copy_free(struct t2x_event_copy *copy)
{
	if (!copy)
		return;
	drop_scope(copy->scope);
	drop_thread(copy->thread);
	free(copy);
}

void t2x_copies_free(struct t2x_copies *copies)
{
	for (unsigned i = 0; i < T2X_COPY_SCOPES; i++)
		drop_scope(copies->scopes[i]);
	for (unsigned i = 0; i < T2X_COPY_THREADS; i++)
		drop_thread(copies->threads[i]);
}
