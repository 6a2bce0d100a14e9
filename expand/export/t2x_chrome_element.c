/* SPDX-License-Identifier: MIT */
/* t2x_chrome_element.c - see t2x_chrome_element.h. */
#include "t2x_chrome_element.h"

#include "text/t2x_json.h"
#include "text/t2x_utf8.h"

void t2x_chrome_time(struct t2x_printer *printer, const char *key, uint64_t ns)
{
	t2x_json_key(printer->out, key);
	printer->out->pos = t2x_chrome_put_us(t2x_out_room(printer->out, 2 * T2X_MAX_DIGITS), ns);
}

/* In front of all elements but the first there is a comma. */
static void separate(struct t2x_printer *printer)
{
	struct t2x_chrome *chrome = printer->own;

	if (chrome->is_begun)
		t2x_out_char(printer->out, ',');
	chrome->is_begun = 1;
}

void t2x_chrome_begin(struct t2x_printer *printer, struct t2x_chrome_place place, const char *name,
		      const char *category, char phase, uint64_t ns)
{
	const struct t2x_chrome *chrome = printer->own;
	struct t2x_out *out = printer->out;

	separate(printer);
	t2x_out_literal(out, "{\"name\":");
	t2x_utf8_json(out, name, strlen(name));
	t2x_out_literal(out, ",\"cat\":");
	t2x_utf8_json(out, category, strlen(category));
	t2x_out_literal(out, ",\"ph\":\"");
	t2x_out_char(out, phase);
	t2x_out_char(out, '"');
	t2x_json_int(out, "pid", place.pid);
	t2x_json_int(out, "tid", (int64_t)place.tid + 1);
	t2x_chrome_time(printer, "ts", ns - chrome->zero_ns);
}

void t2x_chrome_end(struct t2x_printer *printer)
{
	t2x_out_char(printer->out, '}');
	t2x_out_end_line(printer->out);
}

int t2x_chrome_put_place(struct t2x_out *out, const char *before, const char *file, int line)
{
	if (!file || !*file || line <= 0)
		return 0;
	t2x_out_string(out, before);
	t2x_out_literal(out, "\"file\":");
	t2x_utf8_json(out, file, strlen(file));
	t2x_json_int(out, "line", line);
	return 1;
}
