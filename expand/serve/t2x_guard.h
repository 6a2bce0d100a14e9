/* SPDX-License-Identifier: MIT */
/*
 * t2x_guard.h - who may ask `t2 serve'.  Pure functions of the request's headers, which are hostile.
 *
 * On a TCP port any user of the machine, and any page in a browser, can connect.  So a client proves that it knows the
 * token.  A page of another site that gets our address by a name of its own (DNS rebinding) sends that name as Host:
 * only names of the loopback interface are right.
 */
#ifndef T2X_GUARD_H
#define T2X_GUARD_H

enum {
	T2X_GUARD_TOKEN_MIN = 16,         /* characters of a token */
	T2X_GUARD_TOKEN_MAX = 256,
};

/* 1: the header Host names the loopback interface and this port.  host  NULL: there is none */
int t2x_guard_host(const char *host, unsigned port);

/*
 * 1: the header Authorization is "Bearer TOKEN", or "Basic" with a password that is the token, whatever the user's
 * name is.  The time that the comparison takes does not depend on how much of the token is right.
 * authorization  NULL: there is none
 */
int t2x_guard_token(const char *authorization, const char *token);

/* 1: the text can be a token: printable ASCII without blanks and colons, neither short nor long. */
int t2x_guard_is_token(const char *text);

/* 1: a browser says that a page of another site made the request.  site  the header Sec-Fetch-Site, or NULL */
int t2x_guard_is_foreign(const char *site);

#endif
