/* SPDX-License-Identifier: MIT */
/*
 * sampler.cc - for the checks of profiles: a program that takes samples of itself, with the real stacks and modules.
 *
 *   sampler ROUNDS
 *
 * Its main thread is in the region app/main, in each round in app/even or app/odd in that, and there in spin(), into
 * which leaf() is inlined: a sample of cpu.  Its thread "worker" is outside of regions, in app::Engine::wait(): five
 * samples of cpu, five of block.  At the end app::Engine::hold() has ten sampled objects of 512 KiB on the heap, of
 * which it frees four, and opens one of `files`.  The samples have the label path, /a and /b in turn.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <string>
#include <trace2.h>
#include <unistd.h>

extern "C" {
#include "record/tr2_sample.h"
}

static std::string modules;

static void find_build_id(const char *p, size_t n, char *hex)
{
	const char *end = p + n;

	while (p + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)p;
		const unsigned char *id = (const unsigned char *)p + sizeof(*note) + ((note->n_namesz + 3) & ~3u);
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4)
			for (unsigned i = 0; i < note->n_descsz; i++)
				sprintf(hex + 2 * i, "%02x", id[i]);
		p = (const char *)id + ((note->n_descsz + 3) & ~3u);
	}
}

static int add_module(struct dl_phdr_info *info, size_t, void *)
{
	char line[4096], path[2048] = "", build_id[128] = "-";

	if (*info->dlpi_name)
		snprintf(path, sizeof(path), "%s", info->dlpi_name);
	else if (!modules.empty() || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			find_build_id((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				      info->dlpi_phdr[i].p_memsz, build_id);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t page = segment->p_vaddr & 4095, start = info->dlpi_addr + segment->p_vaddr - page;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		snprintf(line, sizeof(line), "%s%" PRIxPTR "-%" PRIxPTR " %" PRIxPTR " %s %s",
			 modules.empty() ? "" : "\n", start,
			 start + ((page + segment->p_memsz + 4095) & ~(uintptr_t)4095),
			 (uintptr_t)(segment->p_offset - page), build_id, path);
		modules += line;
	}
	return 0;
}

/* Every second one comes without a scope of its own. */
extern "C" __attribute__((noinline)) void sample(const char *profile, int64_t count, int64_t value, int64_t period)
{
	static const char *const a[] = { "path", "/a", NULL }, *const b[] = { "path", "/b", NULL };
	static unsigned number;
	struct tr2_sample_v1 taken = {};
	std::string stack;
	void *frames[32];
	char text[32];
	int n = backtrace(frames, 32);

	for (int i = 1; i < n; i++) {
		snprintf(text, sizeof(text), "%s%" PRIxPTR, i > 1 ? " " : "", (uintptr_t)frames[i] - 1);
		stack += text;
	}
	taken.scope = number % 2 ? 0 : tr2_sample_scope_v1(profile, modules.c_str(), stack.c_str());
	taken.profile = profile;
	taken.modules = modules.c_str();
	taken.stack = stack.c_str();
	taken.count = count;
	taken.value = value;
	taken.period = period;
	taken.labels = number++ % 2 ? b : a;
	tr2_sample_v1(&taken);
}

/* No call is the last thing in its function: it would be no call, and the function no frame. */
#define STAY() __asm__ volatile("" ::: "memory")

static inline __attribute__((always_inline)) void leaf()
{
	sample("cpu", 1, 10000000, 10000000);
	STAY();
}

extern "C" __attribute__((noinline)) void spin(void)
{
	leaf();
	STAY();
}

namespace app {
struct Engine {
	__attribute__((noinline)) void wait(int rounds);
	__attribute__((noinline)) void hold();
};

void Engine::wait(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		sample("block", 1, 5000, 1);
		sample("cpu", 1, 10000000, 10000000);
	}
	STAY();
}

void Engine::hold()
{
	volatile int64_t sign = 1;      /* one call for both, which is one place */

	for (int i = 0; i < 14; i++) {
		sample("heap", sign, sign * (1 << 19), 1 << 19);
		sign = i < 9 ? 1 : -1;
	}
	sample("files", 1, 0, 1);
	STAY();
}
}

static void *work(void *)
{
	app::Engine engine;

	trace2_thread_start("worker");
	engine.wait(5);
	trace2_thread_exit();
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	app::Engine engine;
	pthread_t thread;

	dl_iterate_phdr(add_module, NULL);
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	trace2_cmd_name("sampler");
	trace2_region_enter("app", "main", NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < rounds; i++) {
		trace2_region_enter("app", i % 2 ? "odd" : "even", NULL);
		spin();
		trace2_region_leave("app", i % 2 ? "odd" : "even", NULL);
	}
	engine.hold();
	trace2_region_leave("app", "main", NULL);
	return 0;
}
