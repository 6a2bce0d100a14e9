/* SPDX-License-Identifier: MIT */
/* t2x_debuginfod.c - see t2x_debuginfod.h. */
#include "t2x_debuginfod.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/t2x_report.h"

/* Of debuginfod.h, which need not be there to build this. */
typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *build_id, int length, char **path);

static struct {
	begin_fn *begin;
	end_fn *end;
	find_fn *find_debuginfo, *find_executable;
} library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s: libdebuginfod.so.1 is not here: no server is asked\n", t2x_report_name());
		return;
	}
	*(void **)&library.end = dlsym(handle, "debuginfod_end");
	*(void **)&library.find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
	*(void **)&library.find_executable = dlsym(handle, "debuginfod_find_executable");
	if (library.end && library.find_debuginfo && library.find_executable)
		*(void **)&library.begin = dlsym(handle, "debuginfod_begin");
}

char *t2x_debuginfod_find(const char *build_id)
{
	const unsigned char *id = (const unsigned char *)build_id;
	char *path = NULL;
	void *client;
	int fd;

	pthread_once(&once, load);
	client = library.begin ? library.begin() : NULL;
	if (!client)
		return NULL;
	fd = library.find_debuginfo(client, id, 0, &path);     /* 0: in hex */
	if (fd < 0)
		fd = library.find_executable(client, id, 0, &path);
	if (fd >= 0)
		close(fd);
	library.end(client);
	return fd < 0 ? NULL : path;
}
