/* SPDX-License-Identifier: MIT */
/* t2x_patterns.c - see t2x_patterns.h. */
#include "t2x_patterns.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The comma that ends a pattern, or the end of the list. */
static const char *find_end(const char *list)
{
	while (*list && *list != ',')
		list += *list == '\\' && list[1] ? 2 : 1;
	return list;
}

static int add_one(struct t2x_patterns *patterns, const char *text, size_t n)
{
	int excludes = n && *text == '!';
	char **pattern = realloc(patterns->pattern, (patterns->n + 1) * sizeof(*pattern));
	unsigned char *flags;

	if (!pattern)
		return -ENOMEM;
	patterns->pattern = pattern;
	flags = realloc(patterns->excludes, patterns->n + 1);
	if (!flags)
		return -ENOMEM;
	patterns->excludes = flags;
	flags = realloc(patterns->matched, patterns->n + 1);
	if (!flags)
		return -ENOMEM;
	patterns->matched = flags;
	flags[patterns->n] = 0;
	if (n == (size_t)excludes)
		return -EINVAL;
	pattern[patterns->n] = strndup(text + excludes, n - (size_t)excludes);
	if (!pattern[patterns->n])
		return -ENOMEM;
	patterns->excludes[patterns->n++] = (unsigned char)excludes;
	patterns->included += !excludes;
	return 0;
}

int t2x_patterns_add(struct t2x_patterns *patterns, const char *list)
{
	int error = 0;

	for (;; list++) {
		const char *end = find_end(list);

		error = add_one(patterns, list, (size_t)(end - list));
		list = end;
		if (error || !*end)
			return error;
	}
}

static int select_text(const struct t2x_patterns *patterns, const char *text, const char *last)
{
	int is_included = !patterns->included;

	for (unsigned i = 0; text && i < patterns->n; i++) {
		const char *pattern = patterns->pattern[i];

		if (fnmatch(pattern, strchr(pattern, '/') ? text : last, 0))
			continue;
		patterns->matched[i] = 1;
		if (patterns->excludes[i])
			return 0;
		is_included = 1;
	}
	return is_included;
}

int t2x_patterns_select(const struct t2x_patterns *patterns, const char *text)
{
	return select_text(patterns, text, text);
}

int t2x_patterns_exclude(const struct t2x_patterns *patterns, const char *text)
{
	for (unsigned i = 0; text && i < patterns->n; i++)
		if (patterns->excludes[i] && !fnmatch(patterns->pattern[i], text, 0))
			return 1;
	return 0;
}

int t2x_patterns_select_path(const struct t2x_patterns *patterns, const char *path)
{
	const char *slash = strrchr(path, '/');

	return select_text(patterns, path, slash ? slash + 1 : path);
}

void t2x_patterns_free(struct t2x_patterns *patterns)
{
	for (unsigned i = 0; i < patterns->n; i++)
		free(patterns->pattern[i]);
	free(patterns->pattern);
	free(patterns->excludes);
	free(patterns->matched);
	*patterns = (struct t2x_patterns){ 0 };
}
