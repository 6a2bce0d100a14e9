/* SPDX-License-Identifier: MIT */
/* t2x_chain.c - see t2x_chain.h. */
#include "t2x_chain.h"

#include <string.h>

#include "base/t2x_memory.h"

enum {
	POOL_CHAINS = 64,
	POOL_BYTES = 16384,       /* a chain that has gathered more is not worth keeping */
};

/* ---- one ---------------------------------------------------------------------------------------- */

static void add_value(struct t2x_chain *chain, const struct tlg_value *value)
{
	size_t used = chain->nvalues * sizeof(*value);
	void *memory = chain->values;

	if (chain->max_values - used < sizeof(*value)) {
		if (!t2x_context_grow(chain->stream->context, &memory, used, sizeof(*value), &chain->max_values,
				      T2X_CHAIN_VALUES))
			return;
		chain->values = memory;
	}
	chain->values[chain->nvalues++] = *value;
}

static void add_text(struct t2x_chain *chain, const struct tlg_text *text)
{
	void *memory = chain->text;

	if (chain->max_bytes - chain->bytes < TLG_TEXT_SIZE) {
		if (!t2x_context_grow(chain->stream->context, &memory, chain->bytes, TLG_TEXT_SIZE, &chain->max_bytes,
				      T2X_CHAIN_BYTES))
			return;
		chain->text = memory;
	}
	memcpy(chain->text + chain->bytes, text->c, TLG_TEXT_SIZE);
	chain->bytes += TLG_TEXT_SIZE;
}

void t2x_chain_add(struct t2x_chain *chain, const struct tlg_event *event)
{
	if (tlg_event_type(event) == TLG_VALUE)
		add_value(chain, &event->u.value);
	else
		add_text(chain, &event->u.info.text);
}

void t2x_chain_free(struct t2x_chain *chain, struct t2x_context *context)
{
	t2x_context_give(context, chain->max_values + chain->max_bytes);
	t2x_free(chain->values);
	t2x_free(chain->text);
	t2x_free(chain);
}

/* ---- those that are not complete ---------------------------------------------------------------- */

void t2x_chains_push(struct t2x_chains *chains, struct t2x_chain *chain)
{
	chain->next = chains->newest;
	chains->newest = chain;
	chains->count++;
}

void t2x_chains_remove(struct t2x_chains *chains, struct t2x_chain *chain)
{
	struct t2x_chain **at = &chains->newest;

	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	chains->count--;
}

struct t2x_chain *t2x_chains_oldest(const struct t2x_chains *chains)
{
	struct t2x_chain *chain = chains->newest;

	while (chain->next)
		chain = chain->next;
	return chain;
}

/* ---- those that are not in use ------------------------------------------------------------------ */

struct t2x_chain *t2x_chain_pool_take(struct t2x_chain_pool *pool)
{
	struct t2x_chain *chain = pool->first;

	if (!chain)
		return t2x_calloc(1, sizeof(*chain));
	pool->first = chain->next;
	pool->count--;
	chain->nvalues = chain->bytes = 0;
	return chain;
}

void t2x_chain_pool_give(struct t2x_chain_pool *pool, struct t2x_chain *chain, struct t2x_context *context)
{
	if (pool->count >= POOL_CHAINS || chain->max_bytes + chain->max_values > POOL_BYTES) {
		t2x_chain_free(chain, context);
		return;
	}
	chain->next = pool->first;
	pool->first = chain;
	pool->count++;
}

void t2x_chain_pool_free(struct t2x_chain_pool *pool, struct t2x_context *context)
{
	while (pool->first) {
		struct t2x_chain *next = pool->first->next;
		t2x_chain_free(pool->first, context);
		pool->first = next;
	}
	pool->count = 0;
}
