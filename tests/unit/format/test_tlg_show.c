/* SPDX-License-Identifier: MIT */
/* test_tlg_show.c - the document that describes the layout, and its checksum. */
#include "t2test.h"

#include <stdio.h>
#include <string.h>

#include "shown.h"
#include "tlg_crc.h"
#include "tlg_desc.h"

static void test_show_xml_has_stacktracks_form(void **state)
{
	static const char *const lines[] = {
		"<RAW_FORMAT version=\"200\" size=\"24\" payload_size=\"16\" payload_offset=\"8\" "
		"magic=\"0x12345678\" magic_raw=",
		"<TYPE uname=\"HIT\" name=\"hit\" typeindex=\"0\" type=\"ev_hit\" size=\"16\" "
		"followedby=\"arguments\" desc=",
		"  <MEMBER name=\"when\" type=\"hitime_t\" size=\"8\" offset=\"0\" desc=",
		"<TYPE uname=\"FLOC\" name=\"fileloc\" typeindex=\"1\" type=\"ev_fileloc\" size=\"6\" "
		"followedby=\"filename\" desc=",
		"  <MEMBER name=\"sequence\" type=\"sequence_t\" size=\"4\" offset=\"4\" desc=",
		"<FLAG name=\"IS_HIT\" value=\"0x0000\"/>\n",
		"<FLAG name=\"IS_INFO\" value=\"0x00ff\"/>\n",
		"<FLAG name=\"HAS_INFO\" value=\"0x0100\"/>\n<FLAG name=\"INFO_END\" value=\"0x0200\"/>\n",
	};
	const struct shown *text = shown(tlg_show_xml);

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_non_null(strstr(text->c, lines[i]));
	assert_string_equal(text->c + text->n - 14, "</RAW_FORMAT>\n");
}

static void test_show_xml_says_the_byte_order(void **state)
{
	const uint32_t magic = TLG_MAGIC;
	const unsigned char *raw = (const unsigned char *)&magic;
	char expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), "magic_raw=\"0x%02x%02x%02x%02x\"", raw[0], raw[1], raw[2],
		 raw[3]);
	assert_non_null(strstr(shown(tlg_show_xml)->c, expected));
}

static void test_show_xml_needs_no_escapes(void **state)
{
	const struct shown *text = shown(tlg_show_xml);
	unsigned quotes = 0;

	(void)state;
	assert_null(strchr(text->c, '&'));
	for (const char *p = text->c; *p; p++) {
		quotes += *p == '"';
		if (*p == '<')
			assert_int_equal(quotes % 2, 0);
	}
}

static void test_show_crc_is_that_of_the_text(void **state)
{
	const struct shown *text = shown(tlg_show_xml);

	(void)state;
	assert_int_equal(tlg_show_crc(), tlg_crc32c(0, text->c, text->n));
	assert_int_equal(tlg_show_crc(), TLG_LAYOUT);
}

static void test_show_md_lists_every_type_member_and_style(void **state)
{
	const struct shown *text = shown(tlg_show_md);
	char row[128];

	(void)state;
	for (unsigned i = 0; i < tlg_type_count(); i++) {
		const struct tlg_type_desc *type = tlg_type_at(i);
		snprintf(row, sizeof(row), "| %u | **%s** |", type->id, type->text[TLG_DESC_UNAME]);
		assert_non_null(strstr(text->c, row));
		for (unsigned f = 0; f < type->nfields; f++) {
			snprintf(row, sizeof(row), "| | %s | %u | ", type->fields[f].name,
				 type->fields[f].offset);
			assert_non_null(strstr(text->c, row));
		}
	}
	for (unsigned id = 1; id < TLG_STYLE_COUNT; id++) {
		snprintf(row, sizeof(row), "| %u | %s | ", id, tlg_style_by_id(id)->name);
		assert_non_null(strstr(text->c, row));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show_xml_has_stacktracks_form),
		cmocka_unit_test(test_show_xml_says_the_byte_order),
		cmocka_unit_test(test_show_xml_needs_no_escapes),
		cmocka_unit_test(test_show_crc_is_that_of_the_text),
		cmocka_unit_test(test_show_md_lists_every_type_member_and_style),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
