/* SPDX-License-Identifier: MIT */
/* test_t2x_layout.c - documents, good and hostile, and a whole file of another platform. */
#include "t2test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "record.h"
#include "shown.h"
#include "tlg_block.h"
#include "tlgmake.h"

/* A platform of our own making: big-endian, 48-byte events, members in reverse order, 4-byte flags and pid. */
enum { ENTRY = 48, PAYLOAD_AT = 16, PAYLOAD = 32 };

static int parse(struct t2x_layout *layout, const char *xml, const char **why)
{
	return t2x_layout_parse(layout, xml, strlen(xml), why);
}

/* ---- documents ---------------------------------------------------------------------------------- */

static void test_layout_own_document_gives_own_layout(void **state)
{
	struct t2x_layout layout, native;
	struct shown xml = { .n = 0 };
	const char *why;

	(void)state;
	tlg_show_xml(shown_append, &xml);
	assert_int_equal(parse(&layout, xml.c, &why), 0);
	assert_int_equal(t2x_layout_init(&native, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__), 0);
	assert_int_equal(layout.version, TLG_VERSION);
	assert_int_equal(layout.little_endian, native.little_endian);
	assert_int_equal(layout.crc_at, TLG_BLOCK_CRC_AT);
	for (unsigned id = 0; id < 256; id++) {
		const struct t2x_type *a = layout.types[id], *b = native.types[id];
		assert_int_equal(a != NULL, b != NULL);
		for (unsigned i = 0; a && i < b->nmembers; i++) {
			assert_int_equal(a->members[i].offset, b->members[i].offset);
			assert_int_equal(a->members[i].size, b->members[i].size);
			assert_int_equal(a->members[i].is_signed, b->members[i].is_signed);
			assert_int_equal(a->members[i].kind, b->members[i].kind);
			assert_ptr_equal(a->members[i].native, b->members[i].native);
		}
	}
	t2x_layout_free(&layout);
	t2x_layout_free(&native);
}

#define ROOT(attributes, inside) \
	"<RAW_FORMAT version=\"200\" magic_raw=\"0x78563412\" " attributes ">" inside "</RAW_FORMAT>"
#define SIZES "size=\"24\" payload_size=\"16\" payload_offset=\"8\""
#define TYPE(inside) "<TYPE uname=\"HIT\" typeindex=\"0\">" inside "</TYPE>"
#define MEMBER(size, offset) \
	"<MEMBER name=\"when\" type=\"hitime_t\" size=\"" size "\" offset=\"" offset "\"/>"

static void test_layout_impossible_documents_are_refused_with_reason(void **state)
{
	static const struct {
		const char *xml, *why;
	} cases[] = {
		{ "", "no element" },
		{ "nonsense", "" },
		{ "<OTHER/>", "RAW_FORMAT" },
		{ "<RAW_FORMAT", "" },
		{ "<RAW_FORMAT/>", "number" },
		{ ROOT("size=\"24\" payload_size=\"17\" payload_offset=\"8\"", ""), "impossible" },
		{ ROOT("size=\"0\" payload_size=\"0\" payload_offset=\"0\"", ""), "impossible" },
		{ ROOT("size=\"256\" payload_size=\"16\" payload_offset=\"8\"", ""), "too large" },
		{ ROOT("size=\"99999999999999999999\" payload_size=\"16\" payload_offset=\"8\"", ""),
		  "too large" },
		{ ROOT("size=\"-24\" payload_size=\"16\" payload_offset=\"8\"", ""), "missing" },
		{ ROOT("size=\"6\" payload_size=\"2\" payload_offset=\"4\"", ""), "header" },
		{ ROOT(SIZES, TYPE(MEMBER("8", "9"))), "outside the payload" },
		{ ROOT(SIZES, TYPE(MEMBER("8", "255"))), "outside the payload" },
		{ ROOT(SIZES, TYPE(MEMBER("3", "0"))), "size other than" },
		{ ROOT(SIZES, TYPE(MEMBER("0", "0"))), "size other than" },
		{ ROOT(SIZES, TYPE(MEMBER("12", "0"))), "size other than" },
		{ ROOT(SIZES, TYPE(MEMBER("8", "0") MEMBER("4", "8"))), "given twice" },
		{ ROOT(SIZES, TYPE("<MEMBER name=\"seq\" type=\"uint32_t\" size=\"4\" offset=\"0\"/>")), "header" },
		{ ROOT(SIZES, TYPE("") TYPE("")), "twice" },
		{ ROOT(SIZES, TYPE(TYPE(""))), "inside another" },
		{ ROOT(SIZES, MEMBER("8", "0")), "place" },
		{ ROOT(SIZES, "<TYPE uname=\"A B\" typeindex=\"0\"/>"), "name" },
		{ ROOT(SIZES, "<TYPE uname=\"HIT\" typeindex=\"256\"/>"), "too large" },
		{ "<RAW_FORMAT version=\"200\" " SIZES " magic_raw=\"0x34127856\"/>", "byte order" },
		{ "<!DOCTYPE a><RAW_FORMAT/>", "document type" },
	};
	struct t2x_layout layout;
	const char *why;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&layout, cases[i].xml, &why), -EINVAL);
		assert_non_null(strstr(why, cases[i].why));
		assert_non_null(strstr(why, "line "));
	}
}

static void test_layout_too_many_members_are_refused(void **state)
{
	static const char head[] = "<RAW_FORMAT version=\"200\" magic_raw=\"0x78563412\" " SIZES ">"
				   "<TYPE uname=\"HIT\" typeindex=\"0\">";
	struct shown xml = { .n = 0 };
	struct t2x_layout layout;
	const char *why;

	(void)state;
	shown_append(&xml, head, sizeof(head) - 1);
	for (unsigned i = 0; i <= T2X_MAX_MEMBERS; i++)
		shown_append(&xml, MEMBER("1", "0"), strlen(MEMBER("1", "0")));
	shown_append(&xml, "</TYPE></RAW_FORMAT>", 20);
	assert_int_equal(parse(&layout, xml.c, &why), -EINVAL);
	assert_non_null(strstr(why, "one too many"));
}

static void test_layout_document_beyond_a_megabyte_is_refused(void **state)
{
	size_t n = 1024 * 1024 + 1;
	char *xml = malloc(n);
	struct t2x_layout layout;
	const char *why;

	(void)state;
	assert_non_null(xml);
	memset(xml, ' ', n);
	assert_int_equal(t2x_layout_parse(&layout, xml, n, &why), -EINVAL);
	assert_non_null(strstr(why, "megabyte"));
	free(xml);
}

/* ---- a file of another platform ----------------------------------------------------------------- */

/* Where a member of ours lies there: from the end of the payload, of double size where that may be. */
static unsigned there_size(const struct tlg_type_desc *type, const struct tlg_field_desc *field)
{
	return type->id == TLG_BLOCK || field->size == 8 ? field->size : 2u * field->size;
}

static unsigned there_offset(const struct tlg_type_desc *type, unsigned which)
{
	unsigned at = PAYLOAD;

	for (unsigned i = 0; i <= which; i++)
		at -= there_size(type, &type->fields[i]);
	return at;
}

static void describe_type(struct shown *xml, const struct tlg_type_desc *type)
{
	char line[256];

	snprintf(line, sizeof(line), "<TYPE uname=\"%s\" typeindex=\"%u\">\n", type->text[TLG_DESC_UNAME],
		 type->id == TLG_INFO ? TLG_INFO : 100u + type->id);
	shown_append(xml, line, strlen(line));
	for (unsigned i = 0; i < type->nfields; i++) {
		const struct tlg_field_desc *field = &type->fields[i];
		int is_text = field->kind == TLG_KIND_TEXT;
		snprintf(line, sizeof(line),
			 "<MEMBER name=\"%s\" type=\"%s\" size=\"%u\" offset=\"%u\"/>\n", field->name,
			 field->type, is_text ? 23 : there_size(type, field),
			 is_text ? 3 : there_offset(type, i));
		shown_append(xml, line, strlen(line));
	}
	shown_append(xml, "</TYPE>\n", 8);
}

static void describe(struct shown *xml)
{
	static const char head[] =
		"<RAW_FORMAT version=\"200\" size=\"48\" payload_size=\"32\" payload_offset=\"16\" "
		"magic_raw=\"0x12345678\">\n"
		"<HEADER><MEMBER name=\"sequence\" type=\"sequence_t\" size=\"8\" offset=\"0\"/>"
		"<MEMBER name=\"flags\" type=\"flags_t\" size=\"4\" offset=\"8\"/>"
		"<MEMBER name=\"pid\" type=\"st_pid_t\" size=\"4\" offset=\"12\"/></HEADER>";
	static const char tail[] =
		"<FLAG name=\"HAS_INFO\" value=\"0x0800\"/><FLAG name=\"INFO_END\" value=\"0x0400\"/>"
		"<FLAG name=\"HAS_MORE\" value=\"0x0200\"/><FLAG name=\"RENDERED\" "
		"value=\"0x0100\"/></RAW_FORMAT>";

	shown_append(xml, head, sizeof(head) - 1);
	for (unsigned i = 0; i < tlg_type_count(); i++)
		describe_type(xml, tlg_type_at(i));
	shown_append(xml, tail, sizeof(tail) - 1);
}

static void store_be(unsigned char *to, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		to[size - 1 - i] = (unsigned char)(value >> 8 * i);
}

/* The flag bits and type ids are others there. */
static unsigned there_flags(const struct tlg_event *event)
{
	unsigned type = tlg_event_type(event), flags = type == TLG_INFO ? TLG_INFO : 100 + type;

	flags |= event->flags & TLG_HAS_INFO ? 0x800 : 0;
	flags |= event->flags & TLG_INFO_END ? 0x400 : 0;
	flags |= event->flags & TLG_HAS_MORE ? 0x200 : 0;
	return flags | (event->flags & TLG_RENDERED ? 0x100 : 0);
}

static void translate(unsigned char *to, const struct tlg_event *event)
{
	const struct tlg_type_desc *type = tlg_type_by_id(tlg_event_type(event));

	memset(to, 0, ENTRY);
	store_be(to, 8, event->sequence);
	store_be(to + 8, 4, there_flags(event));
	store_be(to + 12, 4, event->pid);
	for (unsigned i = 0; i < type->nfields && type->fields[i].kind != TLG_KIND_TEXT; i++)
		store_be(to + PAYLOAD_AT + there_offset(type, i), there_size(type, &type->fields[i]),
			 (uint64_t)tlg_field_get(&type->fields[i], event->u.payload));
}

/* The events behind a BLOCK, texts in events of 23 bytes.  Return  events written */
static unsigned translate_block(unsigned char *to, const struct tlg_event *events, unsigned count)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned char text[4096] = { 0 };
		unsigned bytes = 0;
		if (tlg_event_type(&events[i]) != TLG_INFO) {
			translate(to + ENTRY * n++, &events[i]);
			continue;
		}
		for (;; i++) {
			memcpy(text + bytes, events[i].u.info.text.c, TLG_TEXT_SIZE);
			bytes += TLG_TEXT_SIZE;
			if (events[i].flags & TLG_INFO_END)
				break;
		}
		while (!text[bytes - 1])
			bytes--;
		for (unsigned at = 0; at < bytes; at += 23) {
			struct tlg_event event = events[i];
			event.flags = (uint16_t)(at + 23 < bytes ? event.flags & ~TLG_INFO_END : event.flags);
			translate(to + ENTRY * n, &event);
			memcpy(to + ENTRY * n++ + PAYLOAD_AT + 3, text + at, 23);
		}
	}
	return n;
}

static unsigned char *translate_file(const struct tlgmake *make, size_t *n)
{
	unsigned char *to = calloc(1, 2 * make->n);

	assert_non_null(to);
	*n = 0;
	for (size_t at = 0; at < make->n;) {
		struct tlg_event events[TLG_BLOCK_LIMIT + 1];
		const struct tlg_type_desc *block = tlg_type_by_id(TLG_BLOCK);
		unsigned count, size, crc_at = PAYLOAD_AT + there_offset(block, 3);
		memcpy(events, make->bytes + at, TLG_EVENT_SIZE);
		count = events->u.block.size;
		memcpy(events, make->bytes + at, (count + 1) * sizeof(events[0]));
		at += (count + 1) * sizeof(events[0]);
		size = translate_block(to + *n + ENTRY, events + 1, count);
		events->u.block.count = events->u.block.size = (uint16_t)size;
		translate(to + *n, events);
		store_be(to + *n + crc_at, 4,
			 tlg_block_crc(to + *n, (size + 1) * (size_t)ENTRY, crc_at, make->stream));
		*n += (size + 1) * (size_t)ENTRY;
	}
	return to;
}

static void make_stream(struct tlgmake *make)
{
	tlgmake_init(make, 0xabcdef01, 0x4321);
	make->sid = "a-session-id-of-more-than-16-bytes/and-a-second-part";
	tlgmake_cycle(make);
	for (unsigned tid = 0; tid < 3; tid++) {
		tlgmake_begin(make, tid);
		tlgmake_thread(make, tid ? "th01:worker-with-long-name" : "main", 5);
		tlgmake_file(make, (uint16_t)(tid + 1), "some/directory/and/a/file.c");
		tlgmake_scope(make, tid + 1, TLG_STYLE_child_start, (uint16_t)(tid + 1),
			      "a label of a scope");
		for (unsigned i = 0; i < 20; i++)
			tlgmake_hit_with(make, 10 + 7 * i + tid, tid + 1, "iisssss", INT64_C(-5),
					 INT64_C(1) << 40, "class", NULL, "", "twenty-three letters...",
					 "and one that is longer than that, by far");
		tlgmake_seal(make);
	}
	tlgmake_end(make);
}

/* The layout of the other machine, by way of its description. */
static void describe_there(struct t2x_layout *layout)
{
	struct shown xml = { .n = 0 };
	const char *why;

	describe(&xml);
	assert_int_equal(parse(layout, xml.c, &why), 0);
}

static void test_layout_foreign_file_reads_as_ours(void **state)
{
	struct record ours = { .text = NULL }, theirs = { .text = NULL };
	struct t2x_layout layout;
	struct tlgmake make;
	unsigned char *bytes;
	const char *path;
	size_t n;

	(void)state;
	describe_there(&layout);
	make_stream(&make);
	bytes = translate_file(&make, &n);
	record_bytes(&ours, make.bytes, make.n);
	path = tlgmake_path(bytes, n);
	record_run(&theirs, &path, 1, &layout);
	assert_int_equal(theirs.report.damages, 0);
	assert_string_equal(theirs.text, ours.text);
	assert_string_equal(theirs.sid, make.sid);
	tlgmake_close(path);
	record_free(&ours);
	record_free(&theirs);
	free(bytes);
	tlgmake_free(&make);
	t2x_layout_free(&layout);
}

/* A text holds, as seen from some bytes, an INFO of two native events with the magic of a BLOCK. */
static void test_layout_text_like_a_block_is_none(void **state)
{
	static const char like[] = "\xff" "of a block";
	struct record theirs = { .text = NULL };
	struct t2x_layout layout;
	struct tlgmake make;
	char text[23 * 12 + 1] = "";
	unsigned char *bytes;
	const char *path;
	size_t n;

	(void)state;
	describe_there(&layout);
	assert_int_equal(TLG_BLOCK_MAGIC, 'T' << 8 | 'L');
	for (unsigned i = 0; i < 23; i++)
		snprintf(text + 12 * i, sizeof(text) - 12 * i, "%.10sTL", like);
	tlgmake_init(&make, 1, 2);
	tlgmake_begin(&make, 0);
	tlgmake_hit_with(&make, 10, 1, "S", text);
	tlgmake_seal(&make);
	tlgmake_cycle(&make);
	tlgmake_begin(&make, 0);
	tlgmake_hit(&make, 20, 1);
	tlgmake_seal(&make);
	bytes = translate_file(&make, &n);
	bytes[0] ^= 1;
	path = tlgmake_path(bytes, n);
	record_run(&theirs, &path, 1, &layout);
	assert_int_equal(theirs.report.damages, 1);
	assert_string_equal(theirs.sid, make.sid);
	tlgmake_close(path);
	record_free(&theirs);
	free(bytes);
	tlgmake_free(&make);
	t2x_layout_free(&layout);
}

static void test_layout_raw_of_foreign_file_reads_as_ours(void **state)
{
	struct record ours = { .text = NULL }, theirs = { .text = NULL };
	struct t2x_layout layout;
	struct tlgmake make;
	unsigned char *bytes, *raw;
	size_t n, nraw;

	(void)state;
	describe_there(&layout);
	make_stream(&make);
	bytes = translate_file(&make, &n);
	raw = listing_raw(bytes, n, &layout, &nraw);
	record_bytes(&ours, make.bytes, make.n);
	record_bytes(&theirs, raw, nraw);
	assert_int_equal(theirs.report.damages, 0);
	/* texts that come in other pieces make other sequence numbers, but the same checkpoints */
	for (char *gap; (gap = strstr(theirs.text, "gap "));)
		memmove(gap, strchr(gap, '\n') + 1, strlen(strchr(gap, '\n')));
	assert_string_equal(theirs.text, ours.text);
	record_free(&ours);
	record_free(&theirs);
	free(bytes);
	free(raw);
	tlgmake_free(&make);
	t2x_layout_free(&layout);
}

static void test_layout_raw_of_own_file_is_the_file(void **state)
{
	struct tlgmake make;
	unsigned char *raw;
	size_t n;

	(void)state;
	make_stream(&make);
	raw = listing_raw(make.bytes, make.n, NULL, &n);
	assert_int_equal(n, make.n);
	assert_memory_equal(raw, make.bytes, n);
	free(raw);
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_own_document_gives_own_layout),
		cmocka_unit_test(test_layout_impossible_documents_are_refused_with_reason),
		cmocka_unit_test(test_layout_too_many_members_are_refused),
		cmocka_unit_test(test_layout_document_beyond_a_megabyte_is_refused),
		cmocka_unit_test(test_layout_foreign_file_reads_as_ours),
		cmocka_unit_test(test_layout_text_like_a_block_is_none),
		cmocka_unit_test(test_layout_raw_of_foreign_file_reads_as_ours),
		cmocka_unit_test(test_layout_raw_of_own_file_is_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
