/* SPDX-License-Identifier: MIT */
/*
 * t2x_ctf.h - what the files of the ctf format share: numbers of event classes, and their layout.
 *
 * There is a class for each kind of Trace2 event, with the kind's name and number, and one for what is unresolved, 0.
 * Its fields are those of the kind's signature in tlg_styles.def; a sample's stack is one more.
 */
#ifndef T2X_CTF_H
#define T2X_CTF_H

#include "base/t2x_out.h"
#include "profile/t2x_bytes.h"

/* The metadata: TSDL. */
void t2x_ctf_metadata(struct t2x_bytes *to);

/* A file of a tar archive (ustar), and the archive's end. */
void t2x_ctf_tar_file(struct t2x_out *out, const char *name, const struct t2x_bytes *bytes);
void t2x_ctf_tar_end(struct t2x_out *out);

#endif
