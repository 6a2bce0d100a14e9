/* SPDX-License-Identifier: MIT */
/*
 * One pass over the event table.  Define TLG_TYPE, TLG_FIELD and TLG_END (those that you leave out become empty), then
 * include this file.  It includes the table and undefines the three macros.  It has no include guard, because a file
 * may make several passes.
 */
#ifndef TLG_TYPE
#define TLG_TYPE(id, uname, name, followedby, desc)
#endif
#ifndef TLG_FIELD
#define TLG_FIELD(ctype, tname, name, kind, desc)
#endif
#ifndef TLG_END
#define TLG_END(uname, name)
#endif
#include "tlg_events.def"
#undef TLG_TYPE
#undef TLG_FIELD
#undef TLG_END
