/* SPDX-License-Identifier: MIT */
/*
 * t2x_pprof_message.h - a Profile of profile.proto as it is made, field by field, and gzipped.
 *
 * It has its fields in any order: what went out is forgotten.
 */
#ifndef T2X_PPROF_MESSAGE_H
#define T2X_PPROF_MESSAGE_H

#include "base/t2x_out.h"
#include "t2x_protobuf.h"

/* Numbers of fields: of the profile, then of the messages in it. */
enum {
	T2X_PPROF_SAMPLE_TYPE = 1, T2X_PPROF_SAMPLE, T2X_PPROF_MAPPING, T2X_PPROF_LOCATION, T2X_PPROF_FUNCTION,
	T2X_PPROF_STRING, T2X_PPROF_TIME = 9, T2X_PPROF_DURATION, T2X_PPROF_PERIOD_TYPE, T2X_PPROF_PERIOD,
	T2X_PPROF_COMMENT, T2X_PPROF_DEFAULT_TYPE
};
enum { T2X_PPROF_SAMPLE_LOCATIONS = 1, T2X_PPROF_SAMPLE_VALUES, T2X_PPROF_SAMPLE_LABEL };
enum { T2X_PPROF_LABEL_KEY = 1, T2X_PPROF_LABEL_TEXT, T2X_PPROF_LABEL_NUMBER, T2X_PPROF_LABEL_UNIT };
enum {
	T2X_PPROF_MAPPING_ID = 1, T2X_PPROF_MAPPING_START, T2X_PPROF_MAPPING_LIMIT, T2X_PPROF_MAPPING_OFFSET,
	T2X_PPROF_MAPPING_FILE, T2X_PPROF_MAPPING_BUILD_ID, T2X_PPROF_MAPPING_FUNCTIONS, T2X_PPROF_MAPPING_FILES,
	T2X_PPROF_MAPPING_LINES, T2X_PPROF_MAPPING_INLINED
};
enum { T2X_PPROF_LOCATION_ID = 1, T2X_PPROF_LOCATION_MAPPING, T2X_PPROF_LOCATION_ADDRESS, T2X_PPROF_LOCATION_LINE };
enum { T2X_PPROF_LINE_FUNCTION = 1, T2X_PPROF_LINE_LINE };
enum {
	T2X_PPROF_FUNCTION_ID = 1, T2X_PPROF_FUNCTION_NAME, T2X_PPROF_FUNCTION_SYSTEM_NAME, T2X_PPROF_FUNCTION_FILE,
	T2X_PPROF_FUNCTION_LINE
};

struct t2x_pprof_message {
	struct t2x_deflate *deflate;
	t2x_write_fn *write;
	void *target;
	int error;                      /* errno of write */
	struct t2x_bytes field;         /* of the profile, that is being made */
	struct t2x_bytes inner, part;   /* a message in it, and one in that */
};

/* Gzipped bytes go to write.  Return  0 or ENOMEM */
int t2x_pprof_begin(struct t2x_pprof_message *message, t2x_write_fn *write, void *target);

/* A field goes out: a number, unless it is 0; the message inner, which is emptied; a string; a type and its unit. */
void t2x_pprof_number(struct t2x_pprof_message *message, unsigned field, uint64_t value);
void t2x_pprof_inner(struct t2x_pprof_message *message, unsigned field);
void t2x_pprof_string(struct t2x_pprof_message *message, const char *text, size_t n);
void t2x_pprof_type(struct t2x_pprof_message *message, unsigned field, uint64_t type, uint64_t unit);

/* The end, and its memory is freed.  Return  0, the errno of write, or ENOMEM */
int t2x_pprof_end(struct t2x_pprof_message *message);

#endif
