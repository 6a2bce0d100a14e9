/* SPDX-License-Identifier: MIT */
/* expanding.c - see expanding.h. */
#include "expanding.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(int good)
{
	if (!good)
		abort();
}

const char *expanding_store(const void *bytes, size_t n)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("bytes", MFD_CLOEXEC);
		must(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(!ftruncate(fd, (off_t)n) && pwrite(fd, bytes, n, 0) == (ssize_t)n);
	return path;
}

struct expanding expanding_blocks(struct t2x_blocks *blocks, t2x_next_fn *next, const struct t2x_writer *writer,
				  struct t2x_out *out)
{
	static const struct t2x_options options = { .nesting = 0 };
	struct t2x_report report = { .to = NULL };
	struct t2x_context context = { .report = &report, .model = t2x_model_new(writer, out, &options) };
	struct t2x_merge *merge = t2x_merge_new(&context);
	struct expanding result;

	must(context.model && merge && !t2x_merge_add(merge, blocks, "bytes", next));
	must(!t2x_merge_run(merge));
	t2x_model_finish(context.model);
	result = (struct expanding){
		.missing = context.missing, .summary = *t2x_model_summary(context.model),
	};
	t2x_merge_open_streams(merge, &result.open_streams, 1);
	t2x_merge_free(merge);
	t2x_model_free(context.model);
	return result;
}

struct expanding expanding_run(const void *bytes, size_t n, const struct t2x_layout *layout,
			       const struct t2x_writer *writer, struct t2x_out *out)
{
	struct t2x_report report = { .to = NULL };
	struct expanding result;
	struct t2x_blocks blocks;
	struct t2x_in in;

	must(!t2x_in_open(&in, expanding_store(bytes, n), t2x_blocks_seen(layout), &report));
	must(!t2x_blocks_init(&blocks, &in, layout));
	result = expanding_blocks(&blocks, t2x_blocks_next, writer, out);
	result.blocks = blocks.good;
	result.is_unusable = !blocks.good || t2x_in_error(&in);
	result.damages = report.damages;
	t2x_blocks_free(&blocks);
	t2x_in_close(&in);
	return result;
}
