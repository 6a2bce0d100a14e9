#!/bin/bash
# SPDX-License-Identifier: MIT
# Plug-ins that are loaded with RTLD_DEEPBIND, into programs that have a copy of the library's flag and into others:
# they record when the program does, from its start to its end, in forked children, too.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_shared_library
cd "$tmp" || exit 1
unset TRACE2_RAW

cat >plug.c <<'END'
#include <trace2.h>

void plug_initialize(void);
void plug_record(int n);

void plug_initialize(void)
{
	trace2_initialize();
}

void plug_record(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter("plug", "region", NULL);
		trace2_data_intmax("plug", NULL, "data", i);
		trace2_region_leave("plug", "region", NULL);
	}
}
END
# host PLUGIN MODE WHO: MODE deep or plain, WHO initializes: host or plug
cat >host.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>

static void (*record)(int);

static void *record_in_thread(void *unused)
{
	record(50);
	return unused;
}

int main(int argc, char **argv)
{
	void *plugin = argc > 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (!strcmp(argv[2], "deep") ? RTLD_DEEPBIND : 0)) : NULL;
	void (*initialize)(void);
	pthread_t thread;
	int status;
	pid_t pid;

	if (!plugin)
		return 3;
	*(void **)(void *)&initialize = dlsym(plugin, "plug_initialize");
	*(void **)(void *)&record = dlsym(plugin, "plug_record");
	record(10);           /* too early */
	if (!strcmp(argv[3], "host"))
		trace2_initialize();
	else
		initialize();
	record(100);
	trace2_data_intmax("host", NULL, "data", trace2_is_enabled());
	pthread_create(&thread, NULL, record_in_thread, NULL);
	pthread_join(thread, NULL);
	pid = fork();
	if (!pid) {
		record(25);
		exit(0);
	}
	waitpid(pid, &status, 0);
	trace2_finish();
	record(10);           /* too late */
	return status != 0;
}
END
flags=(-O2 -I"$top/runtime" -pthread)
link=(-L"$out" -ltrace2 -ldl "-Wl,-rpath,$out")
quiet "the plug-in" ${CC:-cc} "${flags[@]}" -shared -fPIC -o plug.so plug.c "${link[@]}"
quiet "a host" ${CC:-cc} "${flags[@]}" -fno-pie -no-pie -o host-copy host.c "${link[@]}"
quiet "another host" ${CC:-cc} "${flags[@]}" -fPIC -pie -o host-pic host.c "${link[@]}"
check "the one has a copy" grep -q 'COPY.*tr2_enabled_v1' <(readelf -rW host-copy)
check "the other one has none" [ "$(readelf -rW host-pic | grep -c 'COPY.*tr2_enabled_v1')" -eq 0 ]
for host in host-copy host-pic; do
	for mode in plain deep; do
		for who in host plug; do
			rm -f trace.tlg
			TRACE2_RAW=$tmp/trace.tlg timeout 60 ./$host ./plug.so $mode $who
			check "$host $mode $who: ends well" [ $? -eq 0 ]
			"$out/t2expand" --format=ndjson trace.tlg >events
			check "$host $mode $who: the plug-in's" [ "$(grep -c '"category":"plug"' events)" -eq 525 ]
			check "$host $mode $who: the host's" [ "$(grep -c '"category":"host"' events)" -eq 1 ]
			check "$host $mode $who: off is off" [ -z "$(timeout 60 ./$host ./plug.so $mode $who 2>&1)" ]
		done
	done
done
total
