/* SPDX-License-Identifier: MIT */
/*
 * t2x_function.c - see t2x_function.h.
 *
 * PT_GNU_EH_FRAME is a sorted table: where each function begins, where its entry of .eh_frame is, which has its size.
 * Linkers write it in one form, and what has another is left alone.
 */
#include "t2x_function.h"

#include <string.h>

enum { UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b, HEAD_BYTES = 12 };

/* Both are relative to where the table is. */
struct row {
	int32_t function, entry;
};

struct table {
	const struct t2x_image *image;
	Elf *elf;
	GElf_Phdr at;
	Dwarf_Addr bias;
	const struct row *rows;
	uint32_t n;
};

/* A piece of the file, words in this machine's order.  Return  NULL: it is not there */
static const void *read_piece(const struct table *table, uint64_t offset, size_t bytes, Elf_Type type)
{
	const Elf_Data *data = table->image->libdw->elf_getdata_rawchunk(table->elf, (int64_t)offset, bytes, type);

	return data && data->d_size == bytes ? data->d_buf : NULL;
}

static int find_segment(struct table *table)
{
	const struct t2x_libdw *libdw = table->image->libdw;
	size_t n = 0;

	table->elf = table->image->dwfl ? libdw->dwfl_module_getelf(table->image->module, &table->bias) : NULL;
	if (!table->elf || libdw->elf_getphdrnum(table->elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (libdw->gelf_getphdr(table->elf, (int)i, &table->at) && table->at.p_type == PT_GNU_EH_FRAME)
			return table->at.p_filesz >= HEAD_BYTES;
	return 0;
}

static int read_rows(struct table *table)
{
	static const unsigned char usual[] = { UDATA4, DATAREL_SDATA4 };
	const unsigned char *head = read_piece(table, table->at.p_offset, 4, ELF_T_BYTE);
	const uint32_t *n = read_piece(table, table->at.p_offset + 8, sizeof(*n), ELF_T_WORD);

	if (!head || head[0] != 1 || memcmp(head + 2, usual, sizeof(usual)) || !n || !*n ||
	    *n > (table->at.p_filesz - HEAD_BYTES) / sizeof(struct row))
		return 0;
	table->n = *n;
	table->rows = read_piece(table, table->at.p_offset + HEAD_BYTES, table->n * sizeof(struct row), ELF_T_WORD);
	return table->rows != NULL;
}

/* The last row that does not begin behind an address, which is relative as they are.  Return  NULL: there is none */
static const struct row *find_row(const struct table *table, int64_t address)
{
	uint32_t low = 0, high = table->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].function <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->rows[low - 1] : NULL;
}

/* How long the function is.  Its entry: length, where its CIE is, where it begins as seen from here, its size. */
static uint32_t find_size(const struct table *table, const struct row *row)
{
	uint64_t offset = table->at.p_offset + (uint64_t)(int64_t)row->entry;
	const uint32_t *entry = read_piece(table, offset, 4 * sizeof(*entry), ELF_T_WORD);

	return entry && (int64_t)row->entry + 8 + (int32_t)entry[2] == row->function ? entry[3] : 0;
}

int t2x_function_start(const struct t2x_image *image, Dwarf_Addr address, Dwarf_Addr *start)
{
	struct table table = { .image = image };
	const struct row *row;
	int64_t distance;

	if (!find_segment(&table) || !read_rows(&table))
		return 0;
	distance = (int64_t)(address - table.bias - table.at.p_vaddr);
	row = find_row(&table, distance);
	if (!row || (uint64_t)(distance - row->function) >= find_size(&table, row))
		return 0;
	*start = address - (uint64_t)(distance - row->function);
	return 1;
}
