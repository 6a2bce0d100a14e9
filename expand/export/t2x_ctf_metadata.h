/* SPDX-License-Identifier: MIT */
/*
 * t2x_ctf_metadata.h - what the files of the ctf format share: the numbers of event classes, and their layout.
 *
 * A class belongs to a kind of Trace2 event, whose name it has; what is unresolved is of kind 0.  Its fields are those
 * of the kind's signature in tlg_styles.def; a sample has one more, its stack.
 *
 * A class has only the texts that its events have: no event has an empty text.  The reason is babeltrace2, which in
 * 2.0.4 and before shows an empty text as the text that an earlier event of the class had there.  So a kind has one
 * class for each set of texts with which its events occur, and the metadata have those that did occur.
 */
#ifndef T2X_CTF_METADATA_H
#define T2X_CTF_METADATA_H

#include "base/t2x_out.h"
#include "profile/t2x_bytes.h"
#include "tlg.h"

/*
 * The texts of a class, a bit each: the three of the scope, then those of the signature in their order.  Several texts
 * ('*') are always there; their bit says that one of them is empty, and then each is an array of one text or none.
 */
enum { T2X_CTF_CATEGORY = 1, T2X_CTF_LABEL = 2, T2X_CTF_FILE = 4, T2X_CTF_ARGUMENT = 8, T2X_CTF_SETS = 128 };
enum { T2X_CTF_KINDS = 64 };

struct t2x_ctf_classes {
	unsigned char has[T2X_CTF_KINDS][T2X_CTF_SETS / 8];     /* bit for each set of texts */
};

/* The number of a class, which occurs from now on. */
static inline uint16_t t2x_ctf_class(struct t2x_ctf_classes *classes, unsigned kind, unsigned texts)
{
	classes->has[kind][texts / 8] |= (unsigned char)(1u << texts % 8);
	return (uint16_t)(texts * T2X_CTF_KINDS + kind);
}

/* The fields behind those of a kind's signature, as letters. */
static inline const char *t2x_ctf_more(unsigned kind)
{
	return kind == TLG_STYLE_sample ? "s" : "";
}

/* The metadata: TSDL. */
void t2x_ctf_metadata(struct t2x_bytes *to, const struct t2x_ctf_classes *classes);

/* A file of a tar archive (ustar), and the archive's end. */
void t2x_ctf_tar_file(struct t2x_out *out, const char *name, const struct t2x_bytes *bytes);
void t2x_ctf_tar_end(struct t2x_out *out);

#endif
