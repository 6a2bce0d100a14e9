/* SPDX-License-Identifier: MIT */
/* t2x_ctf_metadata.c - ctf: the metadata, and the archive. */
#include "t2x_ctf_metadata.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tlg_desc.h"

static void put(struct t2x_bytes *to, const char *text)
{
	t2x_bytes_put(to, text, strlen(text));
}

static const char declarations[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"trace {\n\tmajor = 1; minor = 8; byte_order = le;\n"
	"\tpacket.header := struct { u32 magic; u32 stream_id; u64 stream_instance_id; };\n};\n"
	"env { tracer_name = \"libtrace2\"; };\n"
	"clock { name = utc; freq = 1000000000; offset = 0; absolute = true; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.utc.value; } := stamp;\n"
	"stream {\n\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\tstamp timestamp_begin; stamp timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded;\n"
	"\t\tu32 _pid; u32 _tid; string _thread;\n\t};\n"
	"\tevent.header := struct { u16 id; stamp timestamp; };\n"
	"\tevent.context := struct { u32 _nesting; i64 _elapsed; };\n"
	"};\n";

/*
 * The next name of a description, as an identifier: "start of the child (0: never started)" is _start_of_the_child.
 * The underscore is not part of the name, but keeps it apart from keywords.  Return  behind it
 */
static const char *next_name(const char *description, char *name, size_t size)
{
	unsigned depth = 0;
	size_t n = 0;

	name[n++] = '_';
	for (; *description && (*description != ',' || depth); description++) {
		char c = *description;

		depth += c == '(';
		if (!depth && n < size - 1 && (isalnum((unsigned char)c) || name[n - 1] != '_'))
			name[n++] = (char)(isalnum((unsigned char)c) ? c : '_');
		depth -= c == ')' && depth;
	}
	while (name[n - 1] == '_' && n > 1)
		n--;
	name[n] = '\0';
	return *description ? description + 1 : description;
}

/* The scope's texts. */
static void put_context(struct t2x_bytes *to, unsigned texts)
{
	put(to, "\tcontext := struct {");
	put(to, texts & T2X_CTF_CATEGORY ? " string _category;" : "");
	put(to, texts & T2X_CTF_LABEL ? " string _label;" : "");
	put(to, texts & T2X_CTF_FILE ? " string _file; u32 _line;" : "");
	put(to, " };\n");
}

static void put_words(struct t2x_bytes *to, const char *name, int has_empty)
{
	char line[256];

	snprintf(line, sizeof(line), has_empty ? " u32 %s_count; struct { u32 _n; string _text[_n]; } %s[%s_count];" :
		 " u32 %s_count; string %s[%s_count];", name, name, name);
	put(to, line);
}

/* The fields of letters: of texts those of the set.  text is the bit of the first; return that behind the last */
static unsigned put_fields(struct t2x_bytes *to, const char *letters, const char *description, unsigned texts,
			   unsigned text)
{
	char line[128], name[64];

	for (; *letters; letters++) {
		int is_number = strchr("iut", *letters) != NULL;

		description = next_name(description, name, sizeof(name));
		snprintf(line, sizeof(line), " %s %s;", *letters == 'i' ? "i64" : is_number ? "u64" : "string", name);
		if (*letters == '*')
			put_words(to, name, (texts & text) != 0);
		else if (is_number || texts & text)
			put(to, line);
		text = is_number ? text : text << 1;
	}
	return text;
}

static void put_class(struct t2x_bytes *to, unsigned kind, unsigned texts, const struct tlg_style_desc *style)
{
	char line[128];
	unsigned text;

	snprintf(line, sizeof(line), "event {\n\tid = %u; name = \"%s\"; stream_id = 0;\n",
		 texts * T2X_CTF_KINDS + kind, style->name);
	put(to, line);
	if (texts & (T2X_CTF_CATEGORY | T2X_CTF_LABEL | T2X_CTF_FILE))
		put_context(to, texts);
	put(to, "\tfields := struct {");
	text = put_fields(to, style->args, style->desc, texts, T2X_CTF_ARGUMENT);
	put_fields(to, t2x_ctf_more(kind), "stack", texts, text);
	put(to, " };\n};\n");
}

void t2x_ctf_metadata(struct t2x_bytes *to, const struct t2x_ctf_classes *classes)
{
	static const struct tlg_style_desc unresolved = { .name = "unresolved", .args = "u", .desc = "scope" };

	put(to, declarations);
	for (unsigned kind = 0; kind < T2X_CTF_KINDS; kind++)
		for (unsigned texts = 0; texts < T2X_CTF_SETS; texts++)
			if (classes->has[kind][texts / 8] >> texts % 8 & 1)
				put_class(to, kind, texts, kind ? tlg_style_by_id(kind) : &unresolved);
}

/* ---- the archive -------------------------------------------------------------------------------- */

enum { TAR_BLOCK = 512 };
enum { AT_NAME = 0, AT_MODE = 100, AT_UID = 108, AT_GID = 116, AT_SIZE = 124, AT_TIME = 136, AT_SUM = 148,
       AT_TYPE = 156, AT_MAGIC = 257 };

/* An octal number and a NUL. */
static void put_octal(char *to, unsigned digits, uint64_t value)
{
	to[digits] = '\0';
	while (digits--) {
		to[digits] = (char)('0' + value % 8);
		value /= 8;
	}
}

void t2x_ctf_tar_file(struct t2x_out *out, const char *name, const struct t2x_bytes *bytes)
{
	static const char zeros[TAR_BLOCK];
	char head[TAR_BLOCK] = { 0 };
	unsigned sum = 0;

	snprintf(head + AT_NAME, AT_MODE - AT_NAME, "%s", name);
	put_octal(head + AT_MODE, 7, 0644);
	put_octal(head + AT_UID, 7, 0);
	put_octal(head + AT_GID, 7, 0);
	put_octal(head + AT_SIZE, 11, bytes->n);
	put_octal(head + AT_TIME, 11, 0);
	memset(head + AT_SUM, ' ', 8);
	head[AT_TYPE] = '0';
	memcpy(head + AT_MAGIC, "ustar\00000", 8);
	for (unsigned i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)head[i];
	put_octal(head + AT_SUM, 6, sum);
	t2x_out_bytes(out, head, TAR_BLOCK);
	t2x_out_bytes(out, (const char *)bytes->bytes, bytes->n);
	t2x_out_bytes(out, zeros, (TAR_BLOCK - bytes->n % TAR_BLOCK) % TAR_BLOCK);
}

void t2x_ctf_tar_end(struct t2x_out *out)
{
	t2x_out_repeat(out, '\0', 2 * TAR_BLOCK);
}
