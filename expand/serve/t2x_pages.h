/* SPDX-License-Identifier: MIT */
/* t2x_pages.h - the list of processes and files, as a page for people and as JSON for programs. */
#ifndef T2X_PAGES_H
#define T2X_PAGES_H

#include "t2x_files.h"
#include "t2x_reply.h"
#include "t2x_traced.h"

void t2x_pages_index(struct t2x_out *out, const struct t2x_traced_list *list, const struct t2x_files *files);

/* One object: {"processes":[...],"dead":[...],"files":[...]} */
void t2x_pages_json(struct t2x_out *out, const struct t2x_traced_list *list, const struct t2x_files *files);

#endif
