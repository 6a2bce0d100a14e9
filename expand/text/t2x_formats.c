/* SPDX-License-Identifier: MIT */
/* t2x_formats.c - see t2x_formats.h. */
#include "t2x_formats.h"

const struct t2x_format t2x_formats[T2X_FORMATS] = {
#define T2X_FORMAT(name, suffix, traits, help) { #name, suffix, help, traits, &t2x_writer_##name },
#include "t2x_formats.def"
};

const struct t2x_format_option t2x_format_options[T2X_OPTIONS] = {
#define T2X_FORMAT_OPTION(name, value, formats, help) { #name, value, formats, help },
#include "t2x_formats.def"
};

const struct t2x_format *t2x_format_find(const char *name)
{
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		if (!strcmp(name, t2x_formats[i].name))
			return &t2x_formats[i];
	return NULL;
}

int t2x_format_has(const struct t2x_format *format, const struct t2x_format_option *option)
{
	size_t n = strlen(format->name);
	const char *at = option->formats;

	if (!*at)
		return 1;
	for (; (at = strstr(at, format->name)); at += n)
		if ((at == option->formats || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return 1;
	return 0;
}

/* Whether the text is the word; or, of "label:KEY" or "data:CATEGORY/KEY", what is before the colon, and has a key. */
static int is_word(const char *word, size_t n, const char *text)
{
	const char *colon = memchr(word, ':', n), *key;

	if (!colon)
		return strlen(text) == n && !memcmp(word, text, n);
	if (strncmp(word, text, (size_t)(colon + 1 - word)))
		return 0;
	key = text + (colon + 1 - word);
	if (memchr(word, '/', n))
		key = strchr(key, '/');
	return key && *key && (*key != '/' || key[1]);
}

int t2x_format_is_one_of(const char *words, const char *text)
{
	for (; words; words = strchr(words, '|')) {
		words += *words == '|';
		if (*text && is_word(words, strcspn(words, "|"), text))
			return 1;
	}
	return 0;
}
