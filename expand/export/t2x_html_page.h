/* SPDX-License-Identifier: MIT */
/* t2x_html_page.h - the page that expand/page is built into; empty in a build without node. */
#ifndef T2X_HTML_PAGE_H
#define T2X_HTML_PAGE_H

#include <stddef.h>

extern const char t2x_html_page[], t2x_html_page_end[];

/* 0: the page is not in this build. */
size_t t2x_html_page_bytes(void);

#endif
