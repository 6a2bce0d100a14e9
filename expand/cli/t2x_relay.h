/* SPDX-License-Identifier: MIT */
/*
 * t2x_relay.h - the seam of the expander (t2x_hit.h) as a stage of a pipeline: checkpoints are formatted while
 * the next ones are put in order.
 *
 * The merge hands checkpoints to a relay, which copies them and their arguments into batches; giving those to
 * the model is a duty.  Threads, processes and scopes are not copied.  So before the reading half changes or
 * frees one of them, it settles: waits until the model has seen everything (t2x_model_settle()).
 *
 * Memory: T2X_RELAY_BATCHES batches of 128 KB.
 */
#ifndef T2X_RELAY_H
#define T2X_RELAY_H

#include "t2x_crew.h"
#include "model/t2x_model.h"

enum { T2X_RELAY_BATCHES = 4 };

struct t2x_relay;

/* From now on the model gets its checkpoints by a duty of the crew.  Return  NULL: no memory, it does not */
struct t2x_relay *t2x_relay_new(struct t2x_crew *crew, struct t2x_model *model);

/* Settle; from now on the model gets its checkpoints at once.  relay may be NULL */
void t2x_relay_free(struct t2x_relay *relay);

#endif
