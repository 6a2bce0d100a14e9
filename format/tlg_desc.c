/* SPDX-License-Identifier: MIT */
/* tlg_desc.c - the descriptor tables, generated from tlg_events.def and tlg_styles.def. */
#include "tlg_desc.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define IS_SIGNED(ctype) _Generic((ctype *)0, int64_t *: 1, int32_t *: 1, default: 0)

static const uint8_t type_ids[] = {
#define TLG_TYPE(id, uname, name, followedby, desc) id,
#include "tlg_pass.h"
};

static const struct tlg_style_desc styles[TLG_STYLE_COUNT] = {
#define TLG_STYLE(id, name, args, desc) [id] = { #name, args, desc },
#include "tlg_styles.def"
#undef TLG_STYLE
};

const char tlg_style_only[UINT8_MAX + 1] = {
#define TLG_STYLE(id, name, args, desc) [id] = sizeof(args) == 2 && args[0] != '*' ? args[0] : '\0',
#include "tlg_styles.def"
#undef TLG_STYLE
};

static const char *const loss_names[TLG_LOSS_REASONS] = {
	[TLG_LOSS_FULL] = "ring full",
	[TLG_LOSS_WRITE] = "write error",
	[TLG_LOSS_ABANDONED] = "abandoned",
	[TLG_LOSS_NORING] = "no ring",
	[TLG_LOSS_CUT] = "cut short",
	[TLG_LOSS_WAIT] = "waited in vain",
	[TLG_LOSS_OVERWRITTEN] = "overwritten",
	[TLG_LOSS_OFF] = "switched off",
};

unsigned tlg_type_count(void)
{
	return COUNT(type_ids);
}

const struct tlg_type_desc *tlg_type_at(unsigned i)
{
	return i < COUNT(type_ids) ? tlg_type_by_id(type_ids[i]) : NULL;
}

/* This is a switch, so that an id that is used twice does not compile.  Each case has the tables of one type. */
const struct tlg_type_desc *tlg_type_by_id(unsigned type_id)
{
	switch (type_id) {
#define TLG_TYPE(id, uname, name, followedby, desc)                                                      \
	case id: {                                                                                       \
		typedef struct tlg_##name self;                                                          \
		static const char *const text[] = { #uname, #name, followedby, desc };                   \
		static const struct tlg_field_desc fields[] = {
#define TLG_FIELD(ctype, tname, name, kind, desc) \
	{ #name, #tname, desc, offsetof(self, name), sizeof(ctype), IS_SIGNED(ctype), TLG_KIND_##kind },
#define TLG_END(uname, name)                                                                             \
	};                                                                                               \
	static_assert(COUNT(fields) <= TLG_MAX_FIELDS, #uname " has too many members");                  \
	static const struct tlg_type_desc type = { text, fields, TLG_##uname, COUNT(fields), TLG_SUM_##uname }; \
	return &type;                                                                                    \
	}
#include "tlg_pass.h"
	default:
		return NULL;
	}
}

const struct tlg_type_desc *tlg_type_by_uname(const char *uname)
{
	for (unsigned i = 0; i < COUNT(type_ids); i++) {
		const struct tlg_type_desc *type = tlg_type_by_id(type_ids[i]);
		if (!strcmp(type->text[TLG_DESC_UNAME], uname))
			return type;
	}
	return NULL;
}

const struct tlg_style_desc *tlg_style_by_id(unsigned id)
{
	return id > 0 && id < TLG_STYLE_COUNT ? &styles[id] : NULL;
}

const char *tlg_loss_name(unsigned reason)
{
	return reason > 0 && reason < TLG_LOSS_REASONS ? loss_names[reason] : "unknown";
}

int64_t tlg_field_get(const struct tlg_field_desc *f, const void *payload)
{
	const unsigned char *p = (const unsigned char *)payload + f->offset;
	uint16_t v16;
	uint32_t v32;
	int64_t v64;

	switch (f->size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, 2);
		return v16;
	case 4:
		memcpy(&v32, p, 4);
		return f->is_signed ? (int32_t)v32 : (int64_t)v32;
	case 8:
		memcpy(&v64, p, 8);
		return v64;
	default:
		return 0;
	}
}

void tlg_field_set(const struct tlg_field_desc *f, void *payload, int64_t value)
{
	unsigned char *p = (unsigned char *)payload + f->offset;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	switch (f->size) {
	case 1:
		*p = (unsigned char)value;
		break;
	case 2:
		memcpy(p, &v16, 2);
		break;
	case 4:
		memcpy(p, &v32, 4);
		break;
	case 8:
		memcpy(p, &value, 8);
		break;
	default:
		break;
	}
}
