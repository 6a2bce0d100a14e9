/* SPDX-License-Identifier: MIT */
/*
 * fuzzmain.c - runs a fuzz target without libFuzzer: over files, and over random changes of them.
 *
 * usage: fuzz_NAME [-runs=N] [-seed=N] [FILE|DIRECTORY...]
 *
 * Each file is one input; then N inputs are made by changing one of them, again and again.  Prints the number of
 * executions.  An input that ends the program is in the file crash-NAME, in the working directory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

enum { MAX_FILES = 4096, MAX_BYTES = 1 << 16, CHANGES = 16 };

struct input {
	uint8_t *bytes;
	size_t n;
};

static struct input inputs[MAX_FILES], current;
static unsigned ninputs;
static uint64_t state = 1, executions;
static char crash_path[64];

static uint32_t next_random(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33);
}

/* Make one change: to a bit, a byte, a number; or copy, delete or insert bytes. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff, 8, '\n', '"' };
	size_t at = n ? next_random() % n : 0, size = 1 + next_random() % 32, to = n ? next_random() % n : 0;

	switch (n ? next_random() % 6 : 5) {
	case 0:
		bytes[at] ^= (uint8_t)(1U << next_random() % 8);
		return n;
	case 1:
		bytes[at] = values[next_random() % sizeof(values)];
		return n;
	case 2:
		bytes[at] = (uint8_t)next_random();
		return n;
	case 3:
		if (size > n - at)
			size = n - at;
		memmove(bytes + to, bytes + at, size < n - to ? size : n - to);
		return n;
	case 4:
		if (size > n - at)
			size = n - at;
		memmove(bytes + at, bytes + at + size, n - at - size);
		return n - size;
	default:
		if (size > max - n)
			size = max - n;
		memmove(bytes + at + size, bytes + at, n - at);
		for (size_t i = 0; i < size; i++)
			bytes[at + i] = (uint8_t)next_random();
		return n + size;
	}
}

__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(bytes, n, max);
}

/* The program crashes: store the present input. */
static void keep_crash(int signal)
{
	int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd >= 0 && write(fd, current.bytes, current.n) == (ssize_t)current.n)
		close(fd);
	raise(signal);
}

static void run(const uint8_t *bytes, size_t n)
{
	current = (struct input){ (uint8_t *)bytes, n };
	executions++;
	LLVMFuzzerTestOneInput(bytes, n);
}

static void die(const char *path)
{
	perror(path);
	exit(1);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct input *input = &inputs[ninputs++];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || ninputs == MAX_FILES)
		die(path);
	input->n = st.st_size < MAX_BYTES ? (size_t)st.st_size : MAX_BYTES;
	if (input->n)
		input->bytes = mmap(NULL, input->n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (input->bytes == MAP_FAILED)
		die(path);
	close(fd);
}

static void load_all(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	char name[4096];

	if (!directory) {
		load(path);
		return;
	}
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		load(name);
	}
	closedir(directory);
}

static void change(uint64_t runs)
{
	static uint8_t bytes[MAX_BYTES];

	for (uint64_t i = 0; i < runs; i++) {
		const struct input *from = &inputs[next_random() % ninputs];
		size_t n = from->n;

		if (n)
			memcpy(bytes, from->bytes, n);
		for (uint32_t changes = 1 + next_random() % CHANGES; changes; changes--)
			n = LLVMFuzzerCustomMutator(bytes, n, MAX_BYTES, next_random());
		run(bytes, n);
	}
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	struct sigaction action = { .sa_handler = keep_crash, .sa_flags = (int)SA_RESETHAND };
	uint64_t runs = 0;

	snprintf(crash_path, sizeof(crash_path), "crash-%s", slash ? slash + 1 : argv[0]);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	for (int i = 1; i < argc; i++) {
		if (sscanf(argv[i], "-runs=%lu", &runs) == 1 || sscanf(argv[i], "-seed=%lu", &state) == 1)
			continue;
		load_all(argv[i]);
	}
	for (unsigned i = 0; i < ninputs; i++)
		run(inputs[i].bytes, inputs[i].n);
	if (ninputs)
		change(runs);
	printf("%s: %llu executions\n", slash ? slash + 1 : argv[0], (unsigned long long)executions);
	return executions ? 0 : 1;
}
