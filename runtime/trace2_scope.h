/* SPDX-License-Identifier: MIT */
/*
 * trace2_scope.h - a region that ends with its block.  Part of trace2.h, which includes it.
 *
 *	TRACE2_SCOPE("category", "label");
 *
 * is a declaration.  It enters the region, and the end of the block leaves it: by return, break, goto, in C++ by an
 * exception, too.  The place of both events is that of the declaration.  A block may have several; they end in the
 * opposite order.
 *
 * Names    as a region's: NULL or not literal is allowed.  The caller keeps them until the block ends.  They are
 *          evaluated once, tracing or not.
 * Jumps    longjmp(), exit(), and in C an exception that passes leave the block without its end, and the region stays:
 *          see trace2_region_unwind().  In C, pthread_exit() and cancellation end it where -fexceptions is set.
 *          No goto or case may jump past the declaration: the compiler refuses that.
 * Cost     of a region's enter and leave: nothing is stored but their events.
 */
#ifndef TRACE2_SCOPE_H
#define TRACE2_SCOPE_H

#include "trace2.h"

struct trace2_scope_v1_ {
	struct trace2_site *leave, names; /* leave is NULL: the names are not literal */
};

TRACE2_INLINE_ void trace2_scope_begin_v1_(struct trace2_scope_v1_ *scope, const char *at_file, int at_line,
					   const char *category, const char *label, struct trace2_site *enter,
					   struct trace2_site *leave)
{
	const struct trace2_scope_v1_ filled = { leave, { at_file, category, label, at_line, TRACE2_LEAVE_V1_, 0 } };

	*scope = filled;
	TRACE2_IF_(enter, trace2_hit_v1_(enter, TRACE2_NULL_, 1),
		   trace2_region_enter_fl(at_file, at_line, category, label, TRACE2_NULL_));
}

TRACE2_INLINE_ void trace2_scope_end_v1_(const struct trace2_scope_v1_ *scope)
{
	const struct trace2_site *at = &scope->names;

	TRACE2_IF_(scope->leave, trace2_hit_v1_(scope->leave, TRACE2_NULL_, 1),
		   trace2_region_leave_fl(at->file, at->line, at->category, at->label, TRACE2_NULL_));
}

#ifdef __cplusplus
/* As an object of its own, or a member: names are looked up, and have to live as long as it does. */
class trace2_scope {
	trace2_scope_v1_ scope_;
public:
	TRACE2_INLINE_ trace2_scope(const char *at_file, int at_line, const char *category, const char *label,
				    trace2_site *enter = nullptr, trace2_site *leave = nullptr) : scope_()
	{
		trace2_scope_begin_v1_(&scope_, at_file, at_line, category, label, enter, leave);
	}
	TRACE2_INLINE_ ~trace2_scope() { trace2_scope_end_v1_(&scope_); }
	trace2_scope(const trace2_scope &) = delete;
	trace2_scope &operator=(const trace2_scope &) = delete;
};
/* Not const: gcc 12 would keep a const object with a destructor in memory, not in registers. */
#define TRACE2_SCOPE_(name, ...) trace2_scope name(__VA_ARGS__)
#else
/* Past a declaration with a cleanup clang lets no jump go; gcc does, but not past a type of variable size. */
#ifdef __clang__
#define TRACE2_NO_JUMP_(type)
#else
#define TRACE2_NO_JUMP_(type) \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wvla\"") \
	typedef char type[(int){ 1 }] __attribute__((unused)); _Pragma("GCC diagnostic pop")
#endif
#define TRACE2_SCOPE_(name, ...) \
	TRACE2_NO_JUMP_(name##_type) \
	struct trace2_scope_v1_ name __attribute__((cleanup(trace2_scope_end_v1_))); \
	trace2_scope_begin_v1_(&name, __VA_ARGS__)
#endif
/* The sites are arguments of a function: in an initializer clang 14 would take their addresses and not make them. */
#define TRACE2_SCOPE_SITE_(style, category, label) \
	(TRACE2_IS_LITERAL_(category, label) ? TRACE2_SITE_(style, category, label) : TRACE2_NULL_)
#define TRACE2_PASTE_(name, number, category, label) \
	TRACE2_SCOPE_(name##number, __FILE__, __LINE__, category, label, \
		      TRACE2_SCOPE_SITE_(TRACE2_ENTER_V1_, category, label), \
		      TRACE2_SCOPE_SITE_(TRACE2_LEAVE_V1_, category, label))
#define TRACE2_NAMED_(number, category, label) TRACE2_PASTE_(trace2_scope_, number, category, label)
#define TRACE2_SCOPE(category, ...) TRACE2_NAMED_(__COUNTER__, (category), (__VA_ARGS__))

#endif
