/* SPDX-License-Identifier: MIT */
/*
 * tr2p_values.h - the values of a profile of the program's own, each with the bucket of the stack that added it.
 *
 * A hash table, from malloc().  Its user has to make sure that one thread uses it at a time.  A zeroed one is empty.
 */
#ifndef TR2P_VALUES_H
#define TR2P_VALUES_H

#include <stddef.h>

struct tr2p_bucket;

struct tr2p_value {
	const void *value;
	struct tr2p_bucket *bucket;   /* NULL: there was no memory for it */
	int is_used;
};

struct tr2p_values {
	struct tr2p_value *slots;
	size_t count, max;            /* max: slots, a power of 2; 0: none yet */
};

/*
 * Add a value that is not there yet; its bucket is for the caller to fill in, before the next call.
 * Return  0, EEXIST, ENOMEM
 */
int tr2p_values_add(struct tr2p_values *values, const void *value, struct tr2p_value **added);

/* Take a value out.  Return  0: it is not there */
int tr2p_values_remove(struct tr2p_values *values, const void *value, struct tr2p_bucket **bucket);

#endif
