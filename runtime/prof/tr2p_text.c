/* SPDX-License-Identifier: MIT */
/* tr2p_text.c - see tr2p_text.h. */
#include "tr2p_text.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "tr2p_module.h"

void tr2p_print(struct t2x_out *out, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	t2x_out_string(out, line);
}

void tr2p_print_place(struct t2x_out *out, const char *before, uintptr_t at, const struct tr2p_module *module)
{
	Dl_info info;

	if (dladdr((const void *)at, &info) && info.dli_sname)
		tr2p_print(out, "%s%s+0x%" PRIxPTR, before, info.dli_sname, at - (uintptr_t)info.dli_saddr);
	if (module)
		tr2p_print(out, " (%s+0x%" PRIxPTR ")", module->path, at - module->bias);
	t2x_out_char(out, '\n');
}
