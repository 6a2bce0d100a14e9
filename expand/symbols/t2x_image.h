/* SPDX-License-Identifier: MIT */
/*
 * t2x_image.h - the file that a module was loaded from, or what is left of it: found, and checked to be that.
 *
 * Looked for are, in this order, and the first that fits is taken:
 *   --binaries=DIR    DIR/<its path>, DIR/<its name>, DIR/.build-id/<..>/<..>: of traces of another host; nothing
 *                     outside of DIR, if a trace names a path with ".."
 *   its path          not with --binaries, if the trace has no build-id to check it by
 *   debug files       by build-id in --debug-dir=DIR and /usr/lib/debug; they have the names, and no code
 *   servers           with --debuginfod: by build-id, what the servers of DEBUGINFOD_URLS have
 * A file whose build-id is not the trace's is another version: its names would be wrong, so it is not taken, which is
 * said once.  Where the trace has none, any file is.
 */
#ifndef T2X_IMAGE_H
#define T2X_IMAGE_H

#include "t2x_libdw.h"
#include "t2x_names.h"

struct t2x_image {
	const struct t2x_libdw *libdw;
	char *file, *build_id;            /* of the module */
	char *debuginfo_path;             /* where libdw looks for debug files */
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;                       /* NULL: nothing was found */
	Dwfl_Module *module;
	struct t2x_go_table *go;          /* t2x_go.c's; NULL: there is none, or it was not looked for */
	int is_go_known;                  /* it was */
	int was_other;                    /* a file of this name was there, and is another version */
	struct t2x_image *next;           /* the owner's */
};

/* Return  NULL: no memory */
struct t2x_image *t2x_image_open(const struct t2x_libdw *libdw, const struct t2x_symbols_places *places,
				 const struct t2x_module *module);
void t2x_image_free(struct t2x_image *image);

/* The address of the module as libdw has it.  Return  0: it is not in the file, or there is none */
int t2x_image_address(const struct t2x_image *image, const struct t2x_module *module, uint64_t address,
		      Dwarf_Addr *found);

#endif
