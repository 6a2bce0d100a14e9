/* SPDX-License-Identifier: MIT */
/* feed.c - see feed.h. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "feed.h"

void feed_open(struct feed *feed, const struct t2x_writer *writer, int brief, unsigned nesting)
{
	const struct t2x_options options = { .brief = brief, .nesting = nesting };

	feed_open_with(feed, writer, &options);
}

void feed_open_with(struct feed *feed, const struct t2x_writer *writer, const struct t2x_options *options)
{
	*feed = (struct feed){ .fd = memfd_create("feed", 0) };
	assert_true(feed->fd >= 0);
	assert_int_equal(t2x_out_init(&feed->out, feed->fd), 0);
	feed->model = t2x_model_new(writer, &feed->out, options);
	assert_non_null(feed->model);
	feed->process = (struct t2x_process){
		.pid = 7, .start_ns = FEED_START_NS, .utcoff = 3600, .sid = "SID",
	};
	for (unsigned i = 0; i < FEED_THREADS; i++)
		feed->thread[i] = (struct t2x_thread){
			.process = &feed->process, .tid = i, .number = i + 1
		};
	strcpy(feed->thread[0].name, "main");
	strcpy(feed->thread[1].name, "th01:worker");
	feed->thread[1].start_ns = FEED_START_NS + 1000 * 1000;
}

struct t2x_scope *feed_scope(struct feed *feed, int style, const char *category, const char *label,
			     const char *format)
{
	unsigned i = feed->nscopes++;

	assert_true(i < FEED_SCOPES);
	feed->scope[i] = (struct t2x_scope){
		.number = i + 1, .index = i + 1, .line = (int32_t)i + 1, .style = (uint8_t)style, .file = "m.c",
		.category = category, .label = label, .format = format
	};
	return &feed->scope[i];
}

static struct t2x_arg next_arg(char letter, va_list *ap)
{
	struct t2x_arg arg = { .type = TLG_ARG_INT };
	double d;

	switch (letter) {
	case 'i':
		arg.value = va_arg(*ap, int);
		break;
	case 'u':
		arg.type = TLG_ARG_UINT;
		arg.value = (int64_t)va_arg(*ap, uint64_t);
		break;
	case 's':
		arg.text = va_arg(*ap, const char *);
		arg.type = arg.text ? TLG_ARG_TEXT : TLG_ARG_NULL;
		arg.length = arg.text ? (uint32_t)strlen(arg.text) : 0;
		break;
	case 'd':
		d = va_arg(*ap, double);
		arg.type = TLG_ARG_DOUBLE;
		memcpy(&arg.value, &d, sizeof(d));
		break;
	case 'p':
		arg.type = TLG_ARG_POINTER;
		arg.value = (int64_t)(intptr_t)va_arg(*ap, void *);
		break;
	default:
		fail_msg("no letter %c", letter);
	}
	return arg;
}

void feed_hit(struct feed *feed, struct t2x_scope *scope, uint64_t us, const char *letters, ...)
{
	struct t2x_arg args[FEED_ARGS];
	struct t2x_hit hit = {
		.thread = &feed->thread[feed->current], .scope = scope, .flags = feed->flags,
		.args = *letters ? args : NULL,
	};
	va_list ap;

	va_start(ap, letters);
	for (; *letters; letters++) {
		assert_true(hit.nargs < FEED_ARGS);
		args[hit.nargs++] = next_arg(*letters, &ap);
	}
	va_end(ap);
	hit.scope_index = scope ? scope->index : 99;
	hit.ns = FEED_START_NS + us * 1000 + 999;   /* cut, not rounded */
	hit.when = us;
	t2x_model_hit(feed->model, &hit);
}

void feed_commands(struct feed *f)
{
	feed(f, version, 10, "s", "1.2.3");
	feed(f, too_many_files, 20, "");
	feed(f, start, 30, "ss", "prog", "a b");
	feed(f, cmd_path, 40, "s", "/p q");
	feed(f, cmd_ancestry, 50, "ss", "sh", "bash x");
	feed(f, cmd_name, 60, "ss", "one", "one");
	feed(f, cmd_mode, 70, "s", "mode");
	feed(f, alias, 80, "sss", "al", "x", "y z");
	feed(f, child_start, 90, "iisssss", 0, 3, "cls", NULL, "/some dir", "st", "a'b");
	feed(f, child_exit, 100, "iiiu", 0, 1234, -1, FEED_START_NS + 90 * 1000);
	feed(f, child_ready, 110, "iius", 0, 1234, UINT64_C(0), "ready");
	feed(f, exec, 120, "issss", 1, "/bin/e x", "argv0", "a b", "");
	feed(f, exec_result, 130, "iis", 1, 2, "No such file");
	feed(f, def_param, 140, "iss", 4, "k.x", "v w");
	feed_hit(f, feed_scope(f, TLG_STYLE_error, NULL, NULL, "fmt %s"), 150, "s", "arg");
	feed(f, signal, 160, "i", 13);
}

static void feed_open_region(struct feed *f)
{
	struct t2x_scope *repo = feed_scope(f, TLG_STYLE_def_repo, NULL, NULL, NULL);
	struct t2x_scope *enter = feed_scope(f, TLG_STYLE_region_enter, "category_longer", "lab", "msg %d");

	repo->repo = enter->repo = 1;
	feed_hit(f, repo, 200, "s", "/work tree");
	feed_hit(f, enter, 210, "i", 5);
	feed_hit(f, feed_scope(f, TLG_STYLE_data, "cat", "key", NULL), 220, "s", "va\"l");
	feed_hit(f, feed_scope(f, TLG_STYLE_data_intmax, "cat", "n", NULL), 230, "i", -5);
	feed_hit(f, feed_scope(f, TLG_STYLE_data_json, "cat", "j", NULL), 240, "s",
		 "{\n  \"a\": 1,\n  \"b\": []\n}");
	feed_hit(f, feed_scope(f, TLG_STYLE_printf, NULL, NULL, "hello %s"), 250, "s", "world");
	feed_hit(f, feed_scope(f, TLG_STYLE_step, "cat", "st", NULL), 250, "");
	feed_hit(f, NULL, 260, "");
	feed_hit(f, feed_scope(f, TLG_STYLE_region_leave, "cat", "lab", NULL), 270, "");
}

static void feed_end(struct feed *f)
{
	f->current = 1;
	feed(f, thread_start, 1000, "");
	feed_hit(f, feed_scope(f, TLG_STYLE_th_timer, "test", "t2", NULL), 1200, "uuuu", UINT64_C(1),
		 UINT64_C(541499), UINT64_C(541500), UINT64_C(541501));
	feed_hit(f, feed_scope(f, TLG_STYLE_th_counter, "test", "c2", NULL), 1210, "u", UINT64_C(3));
	feed(f, thread_exit, 1250, "");
	f->current = 0;
	feed(f, exit, 2000000, "i", 3);
	feed_hit(f, feed_scope(f, TLG_STYLE_timer, "test", "t1", NULL), 2000010, "uuuu", UINT64_C(2),
		 UINT64_C(3000000000), UINT64_C(1000000000), UINT64_C(2000000000));
	feed_hit(f, feed_scope(f, TLG_STYLE_counter, "test", "c1", NULL), 2000020, "u", UINT64_MAX);
	feed(f, atexit, 2000030, "i", 3);
}

void feed_regions(struct feed *f)
{
	feed_open_region(f);
	feed_end(f);
}

/* Print where the texts differ: a long text does not show it. */
static void compare(const char *got, const char *expected)
{
	size_t line = 0, i;

	for (i = 0; got[i] && got[i] == expected[i]; i++) {
		if (got[i] == '\n')
			line = i + 1;
	}
	if (got[i] == expected[i])
		return;
	got += line;
	expected += line;
	fail_msg("expected: %.*s\n     got: %.*s", (int)strcspn(expected, "\n"), expected, (int)strcspn(got, "\n"),
		 got);
}

void feed_long_name(char *name, size_t bytes, unsigned number)
{
	memset(name, 'x', bytes - 1);
	name[bytes - 1] = '\0';
	name[snprintf(name, bytes, "r%08u", number)] = 'x';
}

void feed_gap(struct feed *feed, uint64_t us, struct t2x_gap gap)
{
	t2x_model_update(feed->model, &(struct t2x_update){
		.kind = T2X_GAP, .thread = &feed->thread[feed->current], .ns = FEED_START_NS + us * 1000, .gap = gap,
	});
}

char *feed_finish(struct feed *feed)
{
	off_t size;
	char *text;

	assert_int_equal(t2x_model_finish(feed->model), 0);
	size = lseek(feed->fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(feed->fd, text, (size_t)size, 0), size);
	for (unsigned i = 0; i < FEED_THREADS; i++)
		t2x_model_update(feed->model, &(struct t2x_update){
			.kind = T2X_FORGET_THREAD, .thread = &feed->thread[i],
		});
	t2x_model_update(feed->model, &(struct t2x_update){
		.kind = T2X_FORGET_PROCESS, .process = &feed->process,
	});
	t2x_model_free(feed->model);
	t2x_out_free(&feed->out);
	close(feed->fd);
	return text;
}

void feed_expect(struct feed *feed, const char *expected)
{
	char *text = feed_finish(feed);

	compare(text, expected);
	free(text);
}
