/* SPDX-License-Identifier: MIT */
/*
 * t2x_dir.h - the traces in a directory: what a directory target has been filled with.
 *
 * These are the regular files whose names end in ".tlg", in the order of their names, and last the file that
 * says that the directory was full, in which one more process has left its trace.  Directories in it are not
 * looked into.
 */
#ifndef T2X_DIR_H
#define T2X_DIR_H

struct t2x_dir {
	int is_directory;
	char **paths;                     /* directory and name, each malloc'ed */
	unsigned n, room;
	int has_sentinel;                 /* the last path is the sentinel, which may be a text */
};

/* Return  0, also if path is no directory; -errno: the directory cannot be read.  The caller frees it in any case */
int t2x_dir_list(struct t2x_dir *dir, const char *path);
void t2x_dir_free(struct t2x_dir *dir);

#endif
