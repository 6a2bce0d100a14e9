/* SPDX-License-Identifier: MIT */
/*
 * t2x_model.h - the meaning of checkpoints: regions and their nesting, elapsed times, messages.  The functions that
 * take checkpoints are in t2x_hit.h.
 *
 * A checkpoint that makes no sense - no scope, a kind that is not known, arguments that are not those
 * of its kind - is shown as unresolved and changes nothing else.
 */
#ifndef T2X_MODEL_H
#define T2X_MODEL_H

#include "t2x_writer.h"

/*
 * A model that prints through writer to out, both of which must outlive it.
 * Return  NULL: no memory
 */
struct t2x_model *t2x_model_new(const struct t2x_writer *writer, struct t2x_out *out,
				const struct t2x_options *options);

/* A way to the model that is not the straight one: a queue. */
struct t2x_detour {
	void (*hit)(void *target, const struct t2x_hit *hit);
	void (*update)(void *target, const struct t2x_update *update);
};

/* From now on t2x_model_hit() and t2x_model_update() go there; NULL: straight on. */
void t2x_model_detour(struct t2x_model *m, const struct t2x_detour *detour, void *target);

/* What has come to the end of its way. */
void t2x_model_take_hit(struct t2x_model *m, const struct t2x_hit *hit);
void t2x_model_take_update(struct t2x_model *m, const struct t2x_update *update);

/*
 * There is nothing more to come: have the writer print what it has gathered, flush the output.
 * Return  0, or the errno of the first failed write, which may be EPIPE
 */
int t2x_model_finish(struct t2x_model *m);

const struct t2x_summary *t2x_model_summary(const struct t2x_model *m);

/* Threads and processes must have been forgotten before, else what the model keeps in them leaks. */
void t2x_model_free(struct t2x_model *m);

#endif
