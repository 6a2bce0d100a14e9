/* SPDX-License-Identifier: MIT */
/* test_t2x_xml.c - the listing of our own files. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "tlgmake.h"

/* Seal the block; the listing must have this line. */
static void expect_line(struct tlgmake *make, const char *line)
{
	char *xml;

	tlgmake_seal(make);
	xml = listing_xml(make->bytes, make->n, NULL);
	if (!strstr(xml, line))
		assert_string_equal(xml, line);
	free(xml);
	tlgmake_free(make);
}

static void begin(struct tlgmake *make)
{
	tlgmake_init(make, 0xabc, 0x12345);
	tlgmake_cycle(make);
	tlgmake_begin(make, 3);
}

static void test_xml_hit_has_seconds_with_nine_decimals(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit(&make, 1234567890, 7);
	expect_line(&make, "\n<HIT flags=\"0x1000\" pid=\"0x2345\" seq=\"1\" when=\"1.234567890\" "
			   "scopeIndex=\"7\" tid=\"0x00000003\"/>\n");
}

static void test_xml_time_before_the_start_is_negative(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit(&make, 0, 7);
	make.block[1].u.hit.when = TLGMAKE_RAW - 5;
	expect_line(&make, " when=\"-0.000000005\" ");
}

static void test_xml_step_has_no_time(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit(&make, 0, 7);
	expect_line(&make, " when=\"0\" scopeIndex=\"7\"");
}

static void test_xml_procinfo_has_one_pid(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit(&make, 5, 7);
	expect_line(&make, "\n<PROCINFO flags=\"0x1105\" pid=\"0x00012345\" seq=\"0\" writeCount=\"1\" "
			   "start=\"0.000000000\"/>\n");
}

static void test_xml_text_is_escaped(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_text(&make, 1, "<a b=\"&\">\\\x01\n\x7f\xc3\xa4", 16);
	expect_line(&make, " text=\"&lt;a b=&quot;&amp;&quot;&gt;\\\\x01\\x0a\\x7f\\xc3\\xa4\"/>\n");
}

static void test_xml_text_keeps_zeros_between_but_not_the_padding(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_text(&make, 1, "one\0two\0", 8);
	expect_line(&make, " text=\"one\\x00two\"/>\n");
}

static void test_xml_unknown_type_shows_its_payload(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	memcpy(tlgmake_add(&make, 0x55, 9)->u.payload, "\x01\x02\xff", 3);
	expect_line(&make, "\n<UNKNOWN flags=\"0x1055\" pid=\"0x2345\" seq=\"9\" "
			   "payload=\"0102ff00000000000000000000000000\"/>\n");
}

static void test_xml_without_clock_shows_the_reading(void **state)
{
	struct tlgmake make;
	char *xml;
	size_t cut;

	(void)state;
	begin(&make);
	cut = make.n;
	for (unsigned i = 0; i < 2; i++) {
		tlgmake_hit(&make, 5, 7);
		tlgmake_seal(&make);
		tlgmake_begin(&make, 3);
	}
	xml = listing_xml(make.bytes + cut, make.n - cut, NULL);
	assert_non_null(strstr(xml, " when=\"5000000000005\" "));
	free(xml);
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xml_hit_has_seconds_with_nine_decimals),
		cmocka_unit_test(test_xml_time_before_the_start_is_negative),
		cmocka_unit_test(test_xml_step_has_no_time),
		cmocka_unit_test(test_xml_procinfo_has_one_pid),
		cmocka_unit_test(test_xml_text_is_escaped),
		cmocka_unit_test(test_xml_text_keeps_zeros_between_but_not_the_padding),
		cmocka_unit_test(test_xml_unknown_type_shows_its_payload),
		cmocka_unit_test(test_xml_without_clock_shows_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
