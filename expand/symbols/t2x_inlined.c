/* SPDX-License-Identifier: MIT */
/*
 * t2x_inlined.c - see t2x_inlined.h.
 *
 * DWARF has a tree: a function, in it what was inlined, in that what was inlined there.  From the inside out each knows
 * its name, and where it was called: which is the line in the next one.
 */
#include "t2x_inlined.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_function.h"
#include "t2x_go.h"
#include "t2x_rust.h"

/* A name while it is found; texts are the image's, or demangled and to be freed. */
struct draft {
	const char *name, *system_name, *file;
	char *demangled;
	int64_t line, start_line;
};

struct drafts {
	const struct t2x_libdw *libdw;
	unsigned n;
	struct draft at[T2X_NAMES_MAX];
	char start[512];
};

/* ---- by debugging information ------------------------------------------------------------------- */

static const char *read_text(const struct t2x_libdw *libdw, Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute room;

	return libdw->dwarf_formstring(libdw->dwarf_attr_integrate(die, attribute, &room));
}

static Dwarf_Word read_number(const struct t2x_libdw *libdw, Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute room;
	Dwarf_Word number = 0;

	libdw->dwarf_formudata(libdw->dwarf_attr_integrate(die, attribute, &room), &number);
	return number;
}

static int is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

/* The function of a node, in the line that is known already. */
static void add_function(struct drafts *drafts, Dwarf_Die *die, const char *file, int64_t line)
{
	const struct t2x_libdw *libdw = drafts->libdw;
	struct draft *draft = &drafts->at[drafts->n++];
	int start = 0;

	*draft = (struct draft){ .name = libdw->dwarf_diename(die), .file = file, .line = line };
	draft->system_name = read_text(libdw, die, DW_AT_linkage_name);
	if (!draft->system_name)
		draft->system_name = read_text(libdw, die, DW_AT_MIPS_linkage_name);
	if (!libdw->dwarf_decl_line(die, &start))
		draft->start_line = start;
}

/* All nodes around an address, the innermost first: those of the tree, where what was inlined is in its caller. */
static int get_nodes(const struct t2x_image *image, Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **nodes)
{
	const struct t2x_libdw *libdw = image->libdw;
	Dwarf_Die *around = NULL, innermost;
	Dwarf_Addr bias;
	int n = libdw->dwarf_getscopes(unit, address, &around);
	int found = n > 0 && libdw->dwarf_offdie(libdw->dwfl_module_getdwarf(image->module, &bias),
						 libdw->dwarf_dieoffset(&around[0]), &innermost) != NULL;

	if (n >= 0)
		free(around);
	return found ? libdw->dwarf_getscopes_die(&innermost, nodes) : 0;
}

static void find_functions(const struct t2x_image *image, Dwarf_Addr address, struct drafts *drafts)
{
	const struct t2x_libdw *libdw = image->libdw;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = libdw->dwfl_module_addrdie(image->module, address, &bias), *nodes = NULL;
	Dwfl_Line *source = libdw->dwfl_module_getsrc(image->module, address);
	Dwarf_Files *files = NULL;
	const char *file = NULL;
	int line = 0, n = unit ? get_nodes(image, unit, address - bias, &nodes) : 0;

	if (source)
		file = libdw->dwfl_lineinfo(source, NULL, &line, NULL, NULL, NULL);
	if (n > 0 && libdw->dwarf_getsrcfiles(unit, &files, NULL))
		files = NULL;
	for (int i = 0; i < n && drafts->n < T2X_NAMES_MAX; i++) {
		int tag = libdw->dwarf_tag(&nodes[i]);

		if (!is_function(tag))
			continue;
		add_function(drafts, &nodes[i], file, line);
		if (tag != DW_TAG_inlined_subroutine)
			break;
		file = !files ? NULL : libdw->dwarf_filesrc(files, (size_t)read_number(libdw, &nodes[i],
										       DW_AT_call_file), NULL, NULL);
		line = (int)read_number(libdw, &nodes[i], DW_AT_call_line);
	}
	if (n > 0)
		free(nodes);
}

/* ---- by what Go knows of itself ----------------------------------------------------------------- */

static void find_go(struct t2x_image *image, Dwarf_Addr address, struct drafts *drafts)
{
	struct t2x_go_function function;

	if (!drafts->n && t2x_go_find(image, address, &function))
		drafts->at[drafts->n++] = (struct draft){
			.name = function.name, .system_name = function.name, .file = function.file,
			.line = function.line,
		};
}

/* ---- by the symbol table ------------------------------------------------------------------------ */

/* The function that all others are inlined in; the only one without debugging information. */
static void find_symbol(const struct t2x_image *image, Dwarf_Addr address, struct drafts *drafts)
{
	struct draft *outermost;
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = image->libdw->dwfl_module_addrinfo(image->module, address, &offset, &symbol,
							      NULL, NULL, NULL);

	if (!drafts->n && name)
		drafts->at[drafts->n++] = (struct draft){ .name = name };
	if (!drafts->n)
		return;
	outermost = &drafts->at[drafts->n - 1];
	if (!outermost->system_name && (!outermost->name || (name && !strncmp(name, "_Z", 2))))
		outermost->system_name = name;
}

/* ---- by the unwind tables ----------------------------------------------------------------------- */

/* One that nothing has a name for is called by the place where it begins. */
static void find_start(const struct t2x_image *image, Dwarf_Addr address, uint64_t offset, struct drafts *drafts)
{
	const char *slash = strrchr(image->file, '/'), *file = slash ? slash + 1 : image->file;
	Dwarf_Addr start;

	if (drafts->n || !*file || !t2x_function_start(image, address, &start))
		return;
	snprintf(drafts->start, sizeof(drafts->start), "%.400s+0x%" PRIx64, file, offset - (address - start));
	drafts->at[drafts->n++] = (struct draft){ .name = drafts->start };
}

/* ---- names -------------------------------------------------------------------------------------- */

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 1;
}

static const char *put_text(char **to, const char *text)
{
	size_t n = text_bytes(text);
	const char *at = memcpy(*to, text ? text : "", n);

	*to += n;
	return at;
}

/* In one piece of memory. */
static struct t2x_names *make_names(const struct drafts *drafts)
{
	size_t bytes = sizeof(struct t2x_names) + drafts->n * sizeof(struct t2x_symbol);
	struct t2x_names *names;
	char *text;

	for (unsigned i = 0; i < drafts->n; i++)
		bytes += text_bytes(drafts->at[i].name) + text_bytes(drafts->at[i].system_name) +
			 text_bytes(drafts->at[i].file);
	names = malloc(bytes);
	if (!names)
		return NULL;
	names->n = drafts->n;
	text = (char *)&names->at[names->n];
	for (unsigned i = 0; i < drafts->n; i++) {
		const struct draft *draft = &drafts->at[i];
		names->at[i] = (struct t2x_symbol){
			.function = put_text(&text, draft->name), .system_name = put_text(&text, draft->system_name),
			.file = put_text(&text, draft->file), .line = draft->line, .start_line = draft->start_line,
		};
	}
	return names;
}

/* A legacy name of Rust is one of C++, too, but not so well readable. */
static char *demangle(const char *name)
{
	char *readable = t2x_rust_demangle(name);

	return readable ? readable : t2x_libdw_demangle(name);
}

struct t2x_names *t2x_inlined_names(struct t2x_image *image, Dwarf_Addr address, uint64_t offset)
{
	struct drafts drafts = { .libdw = image->libdw, .n = 0 };
	struct t2x_names *names;

	find_functions(image, address, &drafts);
	find_go(image, address, &drafts);
	find_symbol(image, address, &drafts);
	find_start(image, address, offset, &drafts);
	for (unsigned i = 0; i < drafts.n; i++) {
		struct draft *draft = &drafts.at[i];
		if (!draft->system_name)
			draft->system_name = draft->name;
		draft->demangled = draft->system_name ? demangle(draft->system_name) : NULL;
		if (draft->demangled)
			draft->name = draft->demangled;
		if (!draft->name)
			draft->name = draft->system_name ? draft->system_name : "?";
	}
	names = drafts.n ? make_names(&drafts) : NULL;
	for (unsigned i = 0; i < drafts.n; i++)
		free(drafts.at[i].demangled);
	return names;
}
