/* SPDX-License-Identifier: MIT */
/* t2x_punycode.h - identifiers with letters outside of ASCII, as RFC 3492 packs them into ASCII, "_" for its "-". */
#ifndef T2X_PUNYCODE_H
#define T2X_PUNYCODE_H

#include <stddef.h>
#include <stdint.h>

/* Put n bytes into UTF-8.  Return  bytes put; 0: they are no punycode, or do not fit */
size_t t2x_punycode_decode(const char *text, size_t n, char *to, size_t size);

/* A letter in UTF-8, at most four bytes.  Return  behind it */
char *t2x_punycode_put(char *to, uint32_t letter);

#endif
