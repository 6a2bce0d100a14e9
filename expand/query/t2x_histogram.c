/* SPDX-License-Identifier: MIT */
/* t2x_histogram.c - see t2x_histogram.h. */
#include "t2x_histogram.h"

#include <stdlib.h>

enum { FIRST_VALUES = 4 };

static void *take_memory(size_t n, size_t bytes, size_t *budget)
{
	void *memory = n * bytes <= *budget ? calloc(n, bytes) : NULL;

	if (memory)
		*budget -= n * bytes;
	return memory;
}

static uint64_t *find_power(const struct t2x_histogram *h, unsigned power)
{
	return h->powers ? h->powers[power] : NULL;
}

static uint64_t *new_power(struct t2x_histogram *h, unsigned power, size_t *budget)
{
	if (!h->powers)
		h->powers = take_memory(T2X_HISTOGRAM_POWERS, sizeof(*h->powers), budget);
	if (h->powers)
		h->powers[power] = take_memory(T2X_HISTOGRAM_BUCKETS, sizeof(uint64_t), budget);
	h->is_cut |= !find_power(h, power);
	return find_power(h, power);
}

/* Room for one value behind n of them.  It doubles, for most names have few values.  Return  0: there is none */
static int make_room(struct t2x_histogram *h, unsigned n, size_t *budget)
{
	size_t more = (n ? n : FIRST_VALUES) * sizeof(*h->values);
	uint64_t *values;

	if (n && (n < FIRST_VALUES || n & (n - 1)))
		return 1;
	values = more <= *budget ? realloc(h->values, n * sizeof(*values) + more) : NULL;
	if (!values)
		return 0;
	*budget -= more;
	h->values = values;
	return 1;
}

static void add_to_bucket(struct t2x_histogram *h, uint64_t value, size_t *budget)
{
	unsigned power = t2x_histogram_power(value);
	uint64_t *buckets = find_power(h, power);

	if (!buckets)
		buckets = new_power(h, power, budget);
	if (buckets)
		buckets[t2x_histogram_bucket(power, value)]++;
	h->count++;
}

/* The last of them puts them all into buckets. */
static void add_first(struct t2x_histogram *h, uint64_t value, size_t *budget)
{
	unsigned n = (unsigned)h->count++;

	if (h->is_cut || !make_room(h, n, budget)) {
		h->is_cut = 1;
		return;
	}
	h->values[n++] = value;
	for (unsigned i = 0; n == T2X_HISTOGRAM_EXACT && i < n; i++)
		add_to_bucket(h, h->values[i], budget);
	if (n == T2X_HISTOGRAM_EXACT)
		h->count = n;
}

void t2x_histogram_add_new(struct t2x_histogram *h, uint64_t value, size_t *budget)
{
	if (h->count < T2X_HISTOGRAM_EXACT)
		add_first(h, value, budget);
	else
		add_to_bucket(h, value, budget);
}

static void join_buckets(struct t2x_histogram *h, const struct t2x_histogram *from, size_t *budget)
{
	for (unsigned power = 0; power < T2X_HISTOGRAM_POWERS; power++) {
		const uint64_t *add = find_power(from, power);
		uint64_t *to = find_power(h, power);
		if (add && !to)
			to = new_power(h, power, budget);
		for (unsigned i = 0; add && to && i < T2X_HISTOGRAM_BUCKETS; i++)
			to[i] += add[i];
	}
	h->count += from->count;
}

/* The first values are not in buckets yet: they get there behind the many that come. */
static void join_many(struct t2x_histogram *h, const struct t2x_histogram *from, size_t *budget)
{
	uint64_t first = h->count;

	for (uint64_t n = first; n < T2X_HISTOGRAM_EXACT && !h->is_cut; n++)   /* as if they had come one by one */
		h->is_cut = !make_room(h, (unsigned)n, budget);
	h->count = 0;
	join_buckets(h, from, budget);
	for (uint64_t i = 0; i < first && h->values; i++)
		t2x_histogram_add(h, h->values[i], budget);
}

void t2x_histogram_join(struct t2x_histogram *h, const struct t2x_histogram *from, size_t *budget)
{
	h->is_cut |= from->is_cut;
	if (h->is_cut)
		return;
	if (from->count <= T2X_HISTOGRAM_EXACT)
		for (uint64_t i = 0; i < from->count; i++)
			t2x_histogram_add(h, from->values[i], budget);
	else if (h->count < T2X_HISTOGRAM_EXACT)
		join_many(h, from, budget);
	else
		join_buckets(h, from, budget);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The middle of a bucket. */
static uint64_t find_middle(unsigned power, unsigned bucket)
{
	unsigned shift = power - (power > 0);

	if (!power)
		return bucket;
	return ((uint64_t)(T2X_HISTOGRAM_BUCKETS + bucket) << shift) + (UINT64_C(1) << shift) / 2;
}

static uint64_t find_rank(const struct t2x_histogram *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned power = 0; power < T2X_HISTOGRAM_POWERS; power++)
		for (unsigned i = 0; find_power(h, power) && i < T2X_HISTOGRAM_BUCKETS; i++) {
			seen += h->powers[power][i];
			if (seen >= rank)
				return find_middle(power, i);
		}
	return 0;
}

uint64_t t2x_histogram_percentile(struct t2x_histogram *h, unsigned percent)
{
	uint64_t rank = h->count / 100 * percent + (h->count % 100 * percent + 99) / 100;

	if (h->is_cut || !h->count)
		return 0;
	if (h->count > T2X_HISTOGRAM_EXACT)
		return find_rank(h, rank);
	qsort(h->values, (size_t)h->count, sizeof(h->values[0]), compare);
	return h->values[rank - 1];
}

void t2x_histogram_free(struct t2x_histogram *h)
{
	free(h->values);
	for (unsigned i = 0; h->powers && i < T2X_HISTOGRAM_POWERS; i++)
		free(h->powers[i]);
	free(h->powers);
}
