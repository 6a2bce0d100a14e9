/* SPDX-License-Identifier: MIT */
/* listing.c - see listing.h. */
#include "listing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlgmake.h"
#include "read/t2x_blocks.h"
#include "text/t2x_formats.h"

static void must(int good)
{
	if (!good)
		abort();
}

static char *read_fd(int fd, size_t *n)
{
	struct stat st;
	char *text;

	must(!fstat(fd, &st));
	*n = (size_t)st.st_size;
	text = malloc(*n + 1);
	must(text && pread(fd, text, *n, 0) == (ssize_t)*n);
	text[*n] = '\0';
	return text;
}

char *listing_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	size_t n;

	must(fd >= 0);
	text = read_fd(fd, &n);
	close(fd);
	return text;
}

static char *list(const void *bytes, size_t n, const struct t2x_layout *layout, int is_raw, size_t *made)
{
	const char *path = tlgmake_path(bytes, n);
	int fd = memfd_create("listing", MFD_CLOEXEC);
	struct t2x_report report = { .to = NULL };
	struct t2x_blocks blocks;
	struct t2x_block block;
	struct t2x_out out;
	const struct t2x_writer *writer = is_raw ? &t2x_writer_raw : &t2x_writer_xml;
	struct t2x_printer printer = { .out = &out };
	struct t2x_in in;
	char *text;

	must(fd >= 0 && !t2x_out_init(&out, fd));
	must(!t2x_in_open(&in, path, t2x_blocks_seen(layout), &report));
	must(!t2x_blocks_init(&blocks, &in, layout));
	must(!writer->begin(&printer));
	while (t2x_blocks_next(&blocks, &block))
		must(!writer->block(&printer, &block));
	writer->finish(&printer);
	must(!t2x_out_flush(&out));
	t2x_out_free(&out);
	t2x_blocks_free(&blocks);
	t2x_in_close(&in);
	tlgmake_close(path);
	text = read_fd(fd, made);
	close(fd);
	return text;
}

char *listing_xml(const void *bytes, size_t n, const struct t2x_layout *layout)
{
	size_t made;

	return list(bytes, n, layout, 0, &made);
}

unsigned char *listing_raw(const void *bytes, size_t n, const struct t2x_layout *layout, size_t *raw_bytes)
{
	return (unsigned char *)list(bytes, n, layout, 1, raw_bytes);
}
