/* SPDX-License-Identifier: MIT */
/* t2x_totals_notes.c - see t2x_totals_notes.h. */
#include "t2x_totals_notes.h"

#include <stdlib.h>

void t2x_totals_note(struct t2x_totals *totals, const struct t2x_note *note)
{
	if (totals->nnotes == totals->notes_capacity) {
		unsigned capacity = totals->notes_capacity ? 2 * totals->notes_capacity : 256;
		struct t2x_note *notes = NULL;

		if (capacity <= T2X_NOTES_MAX)
			notes = realloc(totals->notes, capacity * sizeof(*notes));
		if (!notes) {
			totals->is_cut = 1;
			return;
		}
		totals->notes = notes;
		totals->notes_capacity = capacity;
	}
	totals->notes[totals->nnotes++] = *note;
}
