/* SPDX-License-Identifier: MIT */
/* configured.c - see configured.h. */
#include "t2test.h"

#include "configured.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "trace2.h"
#include "traced.h"

void config_write(const char *name, const char *text)
{
	FILE *out = fopen(traced_path(name), "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
	assert_int_equal(fclose(out), 0);
}

/* See configured.h. */
const char *config_read(const char *name)
{
	static char text[1 << 16];
	FILE *in = fopen(traced_path(name), "r");
	size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	if (in)
		fclose(in);
	text[n] = '\0';
	return text;
}

int run_plain(void *data)
{
	(void)data;
	trace2_initialize_fl("main.c", 1);
	trace2_cmd_name_fl("main.c", 2, "name");
	trace2_cmd_name_fl("main.c", 3, "again");
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

int run_configured(void *data)
{
	trace2_use_git_config();
	return run_plain(data);
}

/* The files system and global of the directory are git's configuration. */
int config_run(int (*program)(void *), const char *const *more)
{
	const char *settings[12] = { "TRACE2_RAW=", "GIT_CONFIG_NOSYSTEM=" };
	char system[192], global[192], home[192];
	unsigned n = 2;

	snprintf(system, sizeof(system), "GIT_CONFIG_SYSTEM=%s", traced_path("system"));
	snprintf(global, sizeof(global), "GIT_CONFIG_GLOBAL=%s", traced_path("global"));
	snprintf(home, sizeof(home), "HOME=%s", t.dir);
	settings[n++] = system;
	settings[n++] = global;
	settings[n++] = home;
	while (more && *more)
		settings[n++] = *more++;
	traced_run(&t, program, NULL, settings);
	assert_true(WIFEXITED(t.status));
	return WEXITSTATUS(t.status);
}

/* The section is trace2, the key a target. */
void config_target(const char *name, const char *key, const char *target, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), "[trace2]\n%s = %s\n%s", key, traced_path(target), more);
	config_write(name, text);
}
