/* SPDX-License-Identifier: MIT */
/*
 * t2x_go.c - see t2x_go.h.
 *
 * The table has a head with offsets of its parts; a sorted list of functions; for each a record with offsets of its
 * name and of two programs, bytes which say step by step at which address the number of the file, or the line, changes.
 */
#include "t2x_go.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEAD_BYTES = 8,                   /* magic, zeros, quantum, size of a word; words follow */
	HEAD_WORDS = 8,
	FUNCTION_BYTES = 40,              /* that are read of a function's record, without where it begins */
};

/* Where the parts of the table are, from its beginning. */
struct t2x_go_table {
	const struct t2x_image *image;
	Elf *elf;
	Dwarf_Addr bias;
	const unsigned char *bytes;
	size_t n;
	Dwarf_Addr at;                    /* of the table, as linked */
	unsigned quantum, word;           /* bytes of the shortest instruction, of an address */
	unsigned entry_bytes;             /* of where a function begins: in the list, in its record */
	uint64_t text;                    /* functions begin so much behind what the list says */
	uint64_t nfunctions, names, units, files, steps, functions;
};

/* What is known of a function. */
struct function {
	uint64_t entry;
	uint32_t name, file, line, unit;
};

/* ---- words ---------------------------------------------------------------------------------------- */

/* A number of 4 or 8 bytes.  Return  0 if it is not in the table; so the caller finds nothing there */
static uint64_t read_word(const struct t2x_go_table *table, uint64_t at, unsigned bytes)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (at > table->n || table->n - at < bytes)
		return 0;
	if (bytes == sizeof(wide)) {
		memcpy(&wide, table->bytes + at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, table->bytes + at, sizeof(narrow));
	return narrow;
}

/* Return  NULL: it does not end in the table */
static const char *read_text(const struct t2x_go_table *table, uint64_t at)
{
	int ends = at < table->n && memchr(table->bytes + at, '\0', (size_t)(table->n - at));

	return ends ? (const char *)table->bytes + at : NULL;
}

/* ---- the table ------------------------------------------------------------------------------------ */

/* In a program that may lie anywhere linkers write the address of its text into a relocation, and not in its place. */
static uint64_t find_addend(const struct t2x_go_table *table, Dwarf_Addr at)
{
	const struct t2x_libdw *libdw = table->image->libdw;
	Elf_Scn *section = NULL;

	while ((section = libdw->elf_nextscn(table->elf, section))) {
		GElf_Shdr room, *head = libdw->gelf_getshdr(section, &room);
		Elf_Data *data = head && head->sh_type == SHT_RELA ? libdw->elf_getdata(section, NULL) : NULL;
		GElf_Rela rela;

		for (int i = 0; data && head->sh_entsize && (uint64_t)i < head->sh_size / head->sh_entsize; i++)
			if (libdw->gelf_getrela(data, i, &rela) && rela.r_offset == at)
				return (uint64_t)rela.r_addend;
	}
	return 0;
}

/* Return  0: it is no table, or one that is not known */
static int read_head(struct t2x_go_table *table)
{
	uint32_t magic = (uint32_t)read_word(table, 0, 4);
	int has_text = magic == 0xfffffff0 || magic == 0xfffffff1;     /* Go 1.18, 1.20; 1.16: fffffffa */
	uint64_t words[HEAD_WORDS];

	if ((!has_text && magic != 0xfffffffa) || table->n < HEAD_BYTES || table->bytes[4] || table->bytes[5])
		return 0;
	table->quantum = table->bytes[6];
	table->word = table->bytes[7];
	if ((table->word != 4 && table->word != 8) || !table->quantum || table->quantum > 4)
		return 0;
	for (unsigned i = 0; i < HEAD_WORDS; i++)
		words[i] = read_word(table, HEAD_BYTES + i * table->word, table->word);
	table->nfunctions = words[0];
	table->entry_bytes = has_text ? 4 : table->word;
	if (has_text) {
		Dwarf_Addr at = table->at + HEAD_BYTES + 2 * table->word;

		table->text = words[2] ? words[2] : find_addend(table, at);
	}
	table->names = words[2 + has_text];
	table->units = words[3 + has_text];
	table->files = words[4 + has_text];
	table->steps = words[5 + has_text];
	table->functions = words[6 + has_text];
	return table->nfunctions && table->nfunctions < table->n / (2 * table->entry_bytes) &&
	       table->names < table->n && table->units < table->n && table->files < table->n &&
	       table->steps < table->n && table->functions < table->n;
}

/* It begins here: in a section of its own, or within one of many things, in front of which no name is. */
static int take_table(struct t2x_go_table *table, const Elf_Data *data, Dwarf_Addr at, size_t from)
{
	table->bytes = (const unsigned char *)data->d_buf + from;
	table->n = data->d_size - from;
	table->at = at + from;
	return read_head(table);
}

static int search_section(struct t2x_go_table *table, const Elf_Data *data, Dwarf_Addr at)
{
	for (size_t from = 0; data->d_size - from >= HEAD_BYTES; from += 8) {
		const unsigned char *bytes = (const unsigned char *)data->d_buf + from;

		/* the three magic numbers have these bytes in common, in either order */
		if (bytes[1] == 0xff && bytes[2] == 0xff && take_table(table, data, at, from))
			return 1;
	}
	return 0;
}

static int try_section(struct t2x_go_table *table, Elf_Scn *section, const GElf_Shdr *head, const char *name)
{
	int is_own = strstr(name, ".gopclntab") != NULL;
	const Elf_Data *data = is_own || !strcmp(name, ".data.rel.ro") ?
			       table->image->libdw->elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf || data->d_size < HEAD_BYTES)
		return 0;
	return is_own ? take_table(table, data, head->sh_addr, 0) : search_section(table, data, head->sh_addr);
}

static int find_table(struct t2x_go_table *table)
{
	const struct t2x_libdw *libdw = table->image->libdw;
	Elf_Scn *section = NULL;
	size_t names;

	table->elf = table->image->dwfl ? libdw->dwfl_module_getelf(table->image->module, &table->bias) : NULL;
	if (!table->elf || libdw->elf_getshdrstrndx(table->elf, &names))
		return 0;
	while ((section = libdw->elf_nextscn(table->elf, section))) {
		GElf_Shdr room, *head = libdw->gelf_getshdr(section, &room);
		const char *name = head && head->sh_type == SHT_PROGBITS ?
				   libdw->elf_strptr(table->elf, names, head->sh_name) : NULL;

		if (name && try_section(table, section, head, name))
			return 1;
	}
	return 0;
}

/* ---- functions ------------------------------------------------------------------------------------ */

/* The i-th of the list; the one behind the last is the end of all. */
static uint64_t read_entry(const struct t2x_go_table *table, uint64_t i)
{
	return table->text + read_word(table, table->functions + i * 2 * table->entry_bytes, table->entry_bytes);
}

/* Return  0: the address is in none */
static int find_function(const struct t2x_go_table *table, uint64_t address, struct function *function)
{
	uint64_t low = 0, high = table->nfunctions, at;

	if (address < read_entry(table, 0) || address >= read_entry(table, high))
		return 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (read_entry(table, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	at = table->functions + (low * 2 + 1) * table->entry_bytes;
	at = table->functions + read_word(table, at, table->entry_bytes);
	if (at >= table->n || table->n - at < table->entry_bytes + FUNCTION_BYTES)
		return 0;
	at += table->entry_bytes;
	*function = (struct function){
		.entry = read_entry(table, low), .name = (uint32_t)read_word(table, at, 4),
		.file = (uint32_t)read_word(table, at + 16, 4), .line = (uint32_t)read_word(table, at + 20, 4),
		.unit = (uint32_t)read_word(table, at + 28, 4),
	};
	return 1;
}

/* A number in groups of seven bits.  Return  0: it does not end */
static int take_varint(const unsigned char **at, const unsigned char *end, uint32_t *number)
{
	*number = 0;
	for (unsigned shift = 0; *at < end && shift < 35; shift += 7) {
		unsigned char byte = *(*at)++;

		*number |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
	return 0;
}

/* What the program says for an address: each step is by how much the value changes, and how far it holds from there. */
static int64_t run_steps(const struct t2x_go_table *table, uint32_t program, uint64_t entry, uint64_t address)
{
	const unsigned char *at, *end = table->bytes + table->n;
	uint64_t pc = entry;
	int32_t value = -1;

	if (!program || program >= table->n - table->steps)
		return -1;
	at = table->bytes + table->steps + program;
	for (;;) {
		uint32_t change, distance;

		if (!take_varint(&at, end, &change) || (!change && pc != entry) || !take_varint(&at, end, &distance))
			return -1;
		value = (int32_t)((uint32_t)value + (change & 1 ? ~(change >> 1) : change >> 1));
		pc += (uint64_t)distance * table->quantum;
		if (address < pc)
			return value;
	}
}

/* A file of the unit that the function is in.  Return  NULL: it is not known */
static const char *find_file(const struct t2x_go_table *table, const struct function *function, uint64_t address)
{
	int64_t file = run_steps(table, function->file, function->entry, address);
	uint64_t offset;

	if (file < 0)
		return NULL;
	offset = read_word(table, table->units + 4 * (function->unit + (uint64_t)file), 4);
	return offset == UINT32_MAX ? NULL : read_text(table, table->files + offset);
}

/* Once for an image: most are no programs in Go.  Return  NULL: there is none */
static const struct t2x_go_table *get_table(struct t2x_image *image)
{
	struct t2x_go_table *table = image->is_go_known ? NULL : calloc(1, sizeof(*table));

	if (table) {
		table->image = image;
		image->is_go_known = 1;
		image->go = table;
		if (!find_table(table)) {
			free(table);
			image->go = NULL;
		}
	}
	return image->go;
}

int t2x_go_find(struct t2x_image *image, Dwarf_Addr address, struct t2x_go_function *found)
{
	const struct t2x_go_table *table = get_table(image);
	struct function function;
	int64_t line;

	if (!table || !find_function(table, address - table->bias, &function))
		return 0;
	line = run_steps(table, function.line, function.entry, address - table->bias);
	*found = (struct t2x_go_function){
		.name = read_text(table, table->names + function.name), .line = line > 0 ? line : 0,
		.file = find_file(table, &function, address - table->bias),
	};
	return found->name && *found->name;
}
