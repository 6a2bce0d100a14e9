/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a plug-in that records and is loaded and unloaded again and again, while another thread writes its events.
 *
 * With -DPLUGIN='"NAME"' this is the shared object, whose call sites and texts disappear when it is unloaded.  Without,
 * it is the program: plugin PATH PATH TIMES, which loads two objects in turn.  Their texts differ, and come to lie at
 * the same addresses.
 */
#include <trace2.h>

#ifdef PLUGIN
void run_plugin(int i);
void run_plugin(int i)
{
	trace2_region_enter("plugin", "region of " PLUGIN, (const struct trace2_repository *)0);
	trace2_data_intmax_fl("plugin.c", 1, "plugin", (const struct trace2_repository *)0, "key of " PLUGIN, i);
	trace2_printf(PLUGIN " called for the %d. %s", i, "time");
	trace2_region_leave("plugin", "region of " PLUGIN, (const struct trace2_repository *)0);
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static _Atomic int stop;

static void *flush_on(void *unused)
{
	while (!stop)
		trace2_flush();
	return unused;
}

int main(int argc, char **argv)
{
	const int times = argc == 4 ? atoi(argv[3]) : 0;
	pthread_t flusher;

	trace2_initialize();
	if (pthread_create(&flusher, NULL, flush_on, NULL))
		return 1;
	for (int i = 0; i < times; i++) {
		void *plugin = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
		void (*run)(int) = plugin ? (void (*)(int))(uintptr_t)dlsym(plugin, "run_plugin") : NULL;

		if (!run)
			return 1;
		run(i);
		if (dlclose(plugin))
			return 1;
	}
	stop = 1;
	pthread_join(flusher, NULL);
	return 0;
}
#endif
