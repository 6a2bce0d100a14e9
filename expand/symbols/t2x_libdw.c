/* SPDX-License-Identifier: MIT */
/* t2x_libdw.c - see t2x_libdw.h. */
#include "t2x_libdw.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct t2x_libdw libdw;
static int is_complete;
static int may_ask;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Those of libelf come along: it is one that libdw needs. */
static void load(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	if (!may_ask)
		unsetenv("DEBUGINFOD_URLS");
	is_complete = 1;
#define FIND(name) \
	*(void **)&libdw.name = dlsym(library, #name); \
	is_complete &= libdw.name != NULL;
	T2X_LIBDW_FUNCTIONS(FIND)
#undef FIND
}

const struct t2x_libdw *t2x_libdw_load(int uses_debuginfod)
{
	may_ask |= uses_debuginfod;
	pthread_once(&once, load);
	return is_complete ? &libdw : NULL;
}

/* ---- names of C++ ------------------------------------------------------------------------------- */

typedef char *demangle_fn(const char *mangled, char *room, size_t *n, int *status);
static demangle_fn *cxa_demangle;
static pthread_once_t once_cxa = PTHREAD_ONCE_INIT;

static void load_cxa(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (library)
		*(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
}

char *t2x_libdw_demangle(const char *mangled)
{
	int status = 0;

	if (strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	pthread_once(&once_cxa, load_cxa);
	return cxa_demangle ? cxa_demangle(mangled, NULL, NULL, &status) : NULL;
}
