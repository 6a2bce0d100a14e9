/* SPDX-License-Identifier: MIT */
/* Names of Rust: those of a program that rustc 1.95 has compiled, and what only looks like one. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/t2x_punycode.h"
#include "symbols/t2x_rust.h"

struct pair {
	const char *mangled, *name;
};

static const struct pair v0[] = {
	{ "_RINvCs6xxl1lAjzDf_1a3genAhj4_ThfEEB2_",
	  "a::gen::<[u8; 4], (u8, f32)>" },
	{ "_RINvCs6xxl1lAjzDf_1a3genDNtB2_4SpinNtNtCsgEmfK2I1SDS_4core6marker4SendEL_uEB2_",
	  "a::gen::<dyn a::Spin + core::marker::Send, ()>" },
	{ "_RINvCs6xxl1lAjzDf_1a3genFG0_RL1_eRL0_eERL1_eFG_RL0_eERL0_eEB2_",
	  "a::gen::<for<'a, 'b> fn(&'a str, &'b str) -> &'a str, for<'a> fn(&'a str) -> &'a str>" },
	{ "_RINvCs6xxl1lAjzDf_1a3geneINtB2_1WKj1_Kb0_Kcdf_EEB2_",
	  "a::gen::<str, a::W<1, false, '\\u{df}'>>" },
	{ "_RNvCs6xxl1lAjzDf_1a2hr",
	  "a::hr" },
	{ "_RNvMNtCs6xxl1lAjzDf_1au7nme_qlaINtB2_u9Gre_6ka8ilE5zeigeB4_",
	  "<a::n\303\244me::Gr\303\266\303\237e<i32>>::zeige" },
	{ "_RNCINvMs0_NtNtCsjrHSEGnQ3l9_3std4sync4onceNtB8_4Once9call_onceNCNvNtBc_2rt7cleanup0E0Bc_",
	  "<std::sync::once::Once>::call_once::<std::rt::cleanup::{closure#0}>::{closure#0}" },
	{ "_RNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0Cs6xxl1lAjzDf_1a",
	  "std::rt::lang_start::<()>::{closure#0}" },
	{ "_RNvXCs6xxl1lAjzDf_1aINtB2_1WKj3_Kb1_Kc78_ENtB2_4Spin4spinB2_",
	  "<a::W<3, true, 'x'> as a::Spin>::spin" },
	{ "_RNvXNtCsgEmfK2I1SDS_4core3anyReNtB2_3Any7type_idCsjrHSEGnQ3l9_3std",
	  "<&str as core::any::Any>::type_id" },
	{ "_RNvXNtNtCs6O6TnIPaRGP_6object4read8read_refRShNtB2_7ReadRef19read_bytes_at_until",
	  "<&[u8] as object::read::read_ref::ReadRef>::read_bytes_at_until" },
	{ "_RNvMs3_NtCslNYArtu3iFV_5alloc7raw_vecINtB5_6RawVecPaE8grow_oneCsjrHSEGnQ3l9_3std",
	  "<alloc::raw_vec::RawVec<*const i8>>::grow_one" },
	{ "_RNvXsr_NtCsgEmfK2I1SDS_4core3fmtShNtB5_5Debug3fmtCsgY6Mt91CT9J_14rustc_demangle",
	  "<[u8] as core::fmt::Debug>::fmt" },
	/* of RFC 2603: an argument of a crate, a function with another interface, a constant below zero */
	{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
	{ "_RINvC1a1bFUKChEuE", "a::b::<unsafe extern \"C\" fn(u8)>" },
	{ "_RINvC1a1bKin1f_E", "a::b::<-31>" },
	{ "_RINvC1a1bKo123456789abcdef01_E", "a::b::<0x123456789abcdef01>" },
	{ "_RINvC1a1bTEThETheEE", "a::b::<(), (u8,), (u8, str)>" },
	{ "_RINvC1a1bDNtC1a1Tp1Xhp1YeEL_E", "a::b::<dyn a::T<X = u8, Y = str>>" },
	{ "_RNvC1a1b.llvm.4711", "a::b" },
};

static const struct pair legacy[] = {
	{ "_ZN1a8n$ue4$me22Gr$uf6$$udf$e$LT$T$GT$5zeige17haf77534ecb51182bE",
	  "a::n\303\244me::Gr\303\266\303\237e<T>::zeige" },
	{ "_ZN1a2hr17h464c5fe4faf73a5dE",
	  "a::hr" },
	{ "_ZN49_$LT$a..W$LT$_$C$_$C$_$GT$$u20$as$u20$a..Spin$GT$4spin17hce62da7005fb9d0dE",
	  "<a::W<_,_,_> as a::Spin>::spin" },
	{ "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17he39bdf0230cb3880E",
	  "std::rt::lang_start::{{closure}}" },
	{ "_ZN1a1b17h0123456789abcdefE.llvm.4711", "a::b" },
};

static void check_pairs(const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *name = t2x_rust_demangle(pairs[i].mangled);

		assert_string_equal(name ? name : "", pairs[i].name);
		free(name);
	}
}

static void test_rust_v0_names_are_readable(void **state)
{
	(void)state;
	check_pairs(v0, sizeof(v0) / sizeof(v0[0]));
}

static void test_rust_legacy_names_are_readable_without_hash(void **state)
{
	(void)state;
	check_pairs(legacy, sizeof(legacy) / sizeof(legacy[0]));
}

static void test_rust_other_names_are_left_alone(void **state)
{
	static const struct pair others[] = {
		{ "main", "" }, { "", "" }, { "_ZN3app6Engine4waitEi", "" }, { "_ZN1a1bE", "" }, { "_Z1fv", "" },
		{ "_ZN1a17h0123456789abcdeE", "" }, { "_ZN17h0123456789abcdefE", "" },
		{ "_ZN99a17h0123456789abcdefE", "" }, { "_R", "" }, { "_RN", "" }, { "_RNvC1a", "" },
		{ "_RNvC1a9b", "" }, { "_RNvC1a1bx", "" }, { "_Rest", "" },
	};

	(void)state;
	check_pairs(others, sizeof(others) / sizeof(others[0]));
}

/* The same name while it is short. */
static void assert_few(const char *begun)
{
	const char *pair = "((u8, u8), (u8, u8))";
	char text[256], expected[256], *name;

	snprintf(text, sizeof(text), "%sE", begun);
	snprintf(expected, sizeof(expected), "a::b::<(u8, u8), %s, (%s, %s)>", pair, pair, pair);
	name = t2x_rust_demangle(text);
	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

/* Each part refers to two like the one before: the whole name would be longer than all memory. */
static void test_rust_names_that_explode_are_left_alone(void **state)
{
	char text[4096] = "_RINvC1a1bThhE";
	size_t last = strlen("INvC1a1b");

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		size_t at = strlen(text) - 2, number = last - 1;
		char back[8];

		if (number < 62)
			snprintf(back, sizeof(back), "B%c_", digits[number]);
		else
			snprintf(back, sizeof(back), "B%c%c_", digits[number / 62], digits[number % 62]);
		snprintf(text + at + 2, sizeof(text) - at - 2, "T%s%sE", back, back);
		last = at;
		if (i == 1)
			assert_few(text);
	}
	strcat(text, "E");
	assert_null(t2x_rust_demangle(text));
	/* and one that goes deeper than any that a compiler makes */
	memset(text, 'R', sizeof(text) - 1);
	memcpy(text, "_RINvC1a1b", strlen("_RINvC1a1b"));
	assert_null(t2x_rust_demangle(text));
	/* a part that refers to itself */
	assert_null(t2x_rust_demangle("_RINvC1a1bB7_E"));
}

static void test_punycode_that_is_wrong_is_nothing(void **state)
{
	char to[64];

	(void)state;
	assert_int_equal(t2x_punycode_decode("nme_qla", 7, to, sizeof(to)), 5);
	assert_memory_equal(to, "n\303\244me", 5);
	assert_int_equal(t2x_punycode_decode("", 0, to, sizeof(to)), 0);
	assert_int_equal(t2x_punycode_decode("nme_q-a", 7, to, sizeof(to)), 0);
	assert_int_equal(t2x_punycode_decode("nme_99999999", 12, to, sizeof(to)), 0);
	assert_int_equal(t2x_punycode_decode("nme_qla", 7, to, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rust_v0_names_are_readable),
		cmocka_unit_test(test_rust_legacy_names_are_readable_without_hash),
		cmocka_unit_test(test_rust_other_names_are_left_alone),
		cmocka_unit_test(test_rust_names_that_explode_are_left_alone),
		cmocka_unit_test(test_punycode_that_is_wrong_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
