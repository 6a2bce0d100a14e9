/* SPDX-License-Identifier: MIT */
/* tr2p_fde.c - .eh_frame_hdr, .eh_frame, and libgcc's registry. */
#ifndef __arm__
#include "tr2p_fde.h"

#include <dlfcn.h>
#include <setjmp.h>

#include "tr2p_thread.h"
#include "tr2p_unwind.h"

/* How addresses in tables are written: the format, what they count from. */
enum {
	PE_ABSPTR = 0x00, PE_ULEB = 0x01, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04, PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c, PE_FORMAT = 0x0f,
	PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_RELATIVE = 0x70, PE_INDIRECT = 0x80, PE_OMIT = 0xff
};

/* Longer entries are none: their bounds are what reading is held to. */
enum { ENTRY_MAX = 1 << 24 };

/* Not in unwind.h, but what libgcc offers to each unwinder. */
struct dwarf_eh_bases {
	void *tbase, *dbase, *func;
};
extern const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

static int g_is_registry;     /* there are no other tables */

/* ---- one entry ------------------------------------------------------------------------------------- */

static uint64_t read_format(struct tr2p_bytes *bytes, unsigned encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
		return sizeof(uintptr_t) == 8 ? tr2p_bytes_u64(bytes) : tr2p_bytes_u32(bytes);
	case PE_ULEB:
		return tr2p_bytes_uleb(bytes);
	case PE_UDATA2:
		return tr2p_bytes_u16(bytes);
	case PE_UDATA4:
		return tr2p_bytes_u32(bytes);
	case PE_UDATA8:
	case PE_SDATA8:
		return tr2p_bytes_u64(bytes);
	case PE_SLEB:
		return (uint64_t)tr2p_bytes_sleb(bytes);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)tr2p_bytes_u16(bytes);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)tr2p_bytes_u32(bytes);
	}
	bytes->is_broken = 1;
	return 0;
}

static uintptr_t read_address(struct tr2p_bytes *bytes, unsigned encoding)
{
	uintptr_t from = (uintptr_t)bytes->at, value = (uintptr_t)read_format(bytes, encoding);

	if ((encoding & PE_RELATIVE) == PE_PCREL)
		return value + from;
	if (encoding & (PE_RELATIVE | PE_INDIRECT))
		bytes->is_broken = 1;   /* nobody writes these here */
	return value;
}

/* What the letters of a CIE announce, behind 'z' and the length of it. */
static void read_augmentation(struct tr2p_fde *fde, struct tr2p_bytes *bytes, const char *letters)
{
	for (; *letters && !bytes->is_broken; letters++)
		switch (*letters) {
		case 'R':
			fde->encoding = tr2p_bytes_u8(bytes);
			break;
		case 'P':       /* the personality, which only throwing needs */
			read_format(bytes, tr2p_bytes_u8(bytes));
			break;
		case 'L':
			tr2p_bytes_u8(bytes);
			break;
		case 'S':
			fde->is_signal_frame = 1;
			break;
		case 'B':       /* which key aarch64 signs with */
			break;
		default:        /* unknown: the length says where it ends */
			return;
		}
}

/* The bytes of an entry behind its length; none: it is the end, or one of 64 bits, which no compiler makes. */
static struct tr2p_bytes open_entry(const uint8_t *at)
{
	uint32_t length;

	memcpy(&length, at, sizeof(length));
	if (!length || length > ENTRY_MAX)
		return (struct tr2p_bytes){ at, at, 1 };
	return (struct tr2p_bytes){ at + sizeof(length), at + sizeof(length) + length, 0 };
}

static int read_cie(struct tr2p_fde *fde, const uint8_t *at)
{
	struct tr2p_bytes bytes = open_entry(at), more = { 0 };
	const char *letters;
	unsigned version;
	uint32_t id = tr2p_bytes_u32(&bytes);

	version = tr2p_bytes_u8(&bytes);
	letters = (const char *)bytes.at;
	while (tr2p_bytes_u8(&bytes))
		;
	fde->code_align = (uint32_t)tr2p_bytes_uleb(&bytes);
	fde->data_align = (int32_t)tr2p_bytes_sleb(&bytes);
	fde->ra = (uint8_t)(version == 1 ? tr2p_bytes_u8(&bytes) : tr2p_bytes_uleb(&bytes));
	fde->encoding = PE_ABSPTR;
	fde->is_signal_frame = 0;
	if (bytes.is_broken || id || (version != 1 && version != 3) || (*letters && *letters != 'z'))
		return 0;
	fde->has_length = *letters != '\0';
	if (fde->has_length) {
		uint64_t n = tr2p_bytes_uleb(&bytes);
		more.at = tr2p_bytes_skip(&bytes, n);
		more.end = bytes.at;
		if (!bytes.is_broken)
			read_augmentation(fde, &more, letters + 1);
	}
	fde->cie_program = bytes;
	return !bytes.is_broken && !more.is_broken;
}

/* Return  0: it is damaged, or not of this address */
static int read_fde(struct tr2p_fde *fde, const uint8_t *at, uintptr_t pc)
{
	struct tr2p_bytes bytes = open_entry(at);
	const uint8_t *id = bytes.at;
	uint32_t distance = tr2p_bytes_u32(&bytes);

	if (bytes.is_broken || !distance || !read_cie(fde, id - distance))
		return 0;
	fde->base = at;
	fde->start = read_address(&bytes, fde->encoding);
	fde->size = (uintptr_t)read_format(&bytes, fde->encoding);
	if (fde->has_length)     /* of what only throwing needs */
		tr2p_bytes_skip(&bytes, tr2p_bytes_uleb(&bytes));
	fde->program = bytes;
	return !bytes.is_broken && pc - fde->start < fde->size;
}

/* ---- the sorted table of a module ------------------------------------------------------------------ */

/* As every linker writes it: 32 bits each, from the table's own beginning. */
struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
	struct row {
		int32_t start, entry;
	} rows[];
};

static int is_usual(const struct header *header)
{
	return header->version == 1 && header->frame_encoding == (PE_PCREL | PE_SDATA4) &&
	       header->count_encoding == PE_UDATA4 && header->table_encoding == (PE_DATAREL | PE_SDATA4) &&
	       header->count;
}

static const uint8_t *find_row(const struct header *header, uintptr_t pc)
{
	const uintptr_t base = (uintptr_t)header;
	uint32_t low = 0, high = header->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (base + (uintptr_t)(intptr_t)header->rows[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (const uint8_t *)header + header->rows[low - 1].entry : NULL;
}

/* ---- libgcc's registry ----------------------------------------------------------------------------- */

/* Its lock is not waited for, see tr2p_is_unwinding().  noinline: setjmp() */
static __attribute__((noinline)) const uint8_t *ask_libgcc(uintptr_t pc)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	void *const outer = thread->unwinding;    /* that a signal has interrupted */
	const void *volatile entry = NULL;
	struct dwarf_eh_bases bases;
	jmp_buf here;

	if (!_setjmp(here)) {
		thread->unwinding = &here;
		tr2_fence_compiler();
		entry = _Unwind_Find_FDE((void *)pc, &bases);
	}
	tr2_fence_compiler();
	thread->unwinding = outer;
	return entry;
}

/* ---- both ------------------------------------------------------------------------------------------ */

void tr2p_fde_init(void)
{
	const uintptr_t here = (uintptr_t)tr2p_fde_init;
	struct dl_find_object found;

	g_is_registry = _dl_find_object((void *)here, &found) || !found.dlfo_eh_frame;
	if (g_is_registry)
		ask_libgcc(here);   /* it sorts them, and allocates for that */
}

int tr2p_fde_find(struct tr2p_fde *fde, uintptr_t pc, int may_ask)
{
	struct dl_find_object found;
	const uint8_t *at = NULL;

	if (!_dl_find_object((void *)pc, &found) && found.dlfo_eh_frame) {
		const struct header *header = found.dlfo_eh_frame;
		if (is_usual(header)) {
			at = find_row(header, pc);
			return at && read_fde(fde, at, pc);
		}
	}
	if (may_ask || g_is_registry)
		at = ask_libgcc(pc);
	return at && read_fde(fde, at, pc);
}
#else
extern int tr2p_fde_is_left_to_libgcc;
#endif
