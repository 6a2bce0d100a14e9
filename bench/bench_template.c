/* SPDX-License-Identifier: MIT */
/*
 * bench_template - the highest speed at which lines of the perf text can be made.
 *
 * usage: bench_template TEXT LINES >OUTPUT
 *
 * Uses the first lines of TEXT, a perf text, as templates, and writes LINES lines.  Each line is a copy of a template,
 * into which the time of day and the two durations of a running clock are patched.  The program reads no trace and has
 * no regions, no threads, no merge: so it is what t2expand is compared with.  It enlarges a pipe, as t2expand does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum {
	TEMPLATES = 256, LINE_MAX_BYTES = 512, BUFFER_BYTES = 256 * 1024, PIPE_BYTES = 1024 * 1024,
	ABSOLUTE_COLUMN = 5, RELATIVE_COLUMN = 6,   /* " | " before them */
	STEP_NS = 137,
};

struct template {
	char line[LINE_MAX_BYTES];
	size_t length;
	size_t absolute, relative;      /* where "%9.6f" begins; 0: none */
};

static struct template templates[TEMPLATES];
static char pairs[200];                  /* "00", "01", ... "99" */
static char buffer[BUFFER_BYTES + LINE_MAX_BYTES];

static void put_pair(char *to, unsigned value)
{
	memcpy(to, pairs + 2 * value, 2);
}

static void put_six(char *to, unsigned value)
{
	put_pair(to, value / 10000);
	put_pair(to + 2, value / 100 % 100);
	put_pair(to + 4, value % 100);
}

/* "%9.6f" of less than 100 s */
static void put_seconds(char *to, uint64_t us)
{
	unsigned seconds = (unsigned)(us / 1000000 % 100);

	put_pair(to, seconds);
	if (seconds < 10)
		to[0] = ' ';
	to[2] = '.';
	put_six(to + 3, (unsigned)(us % 1000000));
}

/* Where the text of column `column` begins, if it holds a duration; else 0. */
static size_t find_duration(const struct template *t, unsigned column)
{
	const char *at = t->line;

	for (unsigned i = 0; i < column && at; i++) {
		at = strstr(at, " | ");
		if (at)
			at += 3;
	}
	return at && strspn(at, " 0123456789.") >= 9 && at[2] == '.' ? (size_t)(at - t->line) : 0;
}

static unsigned read_templates(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned count = 0;

	if (!file)
		bench_fail(path);
	while (count < TEMPLATES && fgets(templates[count].line, LINE_MAX_BYTES, file)) {
		struct template *t = &templates[count];

		t->length = strlen(t->line);
		t->absolute = find_duration(t, ABSOLUTE_COLUMN);
		t->relative = find_duration(t, RELATIVE_COLUMN);
		count += t->absolute && t->line[t->length - 1] == '\n';
	}
	fclose(file);
	return count;
}

/* Hours, minutes and seconds change rarely, so their text is cached. */
static void put_time(char *to, uint64_t us)
{
	static char hms[9] = "00:00:00.";
	static uint64_t last = UINT64_MAX;
	uint64_t seconds = us / 1000000;

	if (seconds != last) {
		last = seconds;
		put_pair(hms, (unsigned)(seconds / 3600 % 24));
		put_pair(hms + 3, (unsigned)(seconds / 60 % 60));
		put_pair(hms + 6, (unsigned)(seconds % 60));
	}
	memcpy(to, hms, sizeof(hms));
	put_six(to + sizeof(hms), (unsigned)(us % 1000000));
}

static void write_out(size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(STDOUT_FILENO, buffer + done, bytes - done);

		if (n < 0)
			bench_fail("write");
		done += (size_t)n;
	}
}

static void write_lines(unsigned count, uint64_t lines)
{
	uint64_t ns = 0;
	size_t used = 0;

	for (uint64_t i = 0; i < lines; i++) {
		const struct template *t = &templates[i % count];
		char *line = buffer + used;

		ns += STEP_NS;
		memcpy(line, t->line, t->length);
		put_time(line, ns / 1000);
		put_seconds(line + t->absolute, ns / 1000);
		if (t->relative)
			put_seconds(line + t->relative, STEP_NS * (i % 1000) / 1000);
		used += t->length;
		if (used >= BUFFER_BYTES) {
			write_out(used);
			used = 0;
		}
	}
	write_out(used);
}

int main(int argc, char **argv)
{
	uint64_t lines = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	unsigned count;

	if (!lines) {
		fputs("usage: bench_template TEXT LINES >OUTPUT\n", stderr);
		return 2;
	}
	for (unsigned i = 0; i < 100; i++) {
		pairs[2 * i] = (char)('0' + i / 10);
		pairs[2 * i + 1] = (char)('0' + i % 10);
	}
	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_BYTES);   /* fails where it is none */
	count = read_templates(argv[1]);
	if (!count) {
		fprintf(stderr, "bench_template: %s: no line of a perf text\n", argv[1]);
		return 1;
	}
	write_lines(count, lines);
	return 0;
}
