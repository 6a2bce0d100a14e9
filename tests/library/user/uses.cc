/* SPDX-License-Identifier: MIT */
/* uses.cc - what only C++ can pass to the macros of trace2.h, and where only C++ has functions; see uses.h. */
#include "uses.h"

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <type_traits>

namespace {

constexpr const char *constant = "constexpr";

/* A pair of types, so that a comma stands between < and > */
template <class A, class B> struct Pair {
	static int first(A a, B)
	{
		return static_cast<int>(a);
	}
};

template <class T> void use_in_template(T value, const char *label)
{
	trace2_region_enter("template", "literal", nullptr);
	trace2_data_intmax("template", nullptr, label, static_cast<intmax_t>(value));
	trace2_region_leave("template", label, nullptr);
}

template <const char *name> void use_argument()
{
	trace2_step("template argument", name);
}

template <bool is_true> void use_constexpr_if()
{
#if __cplusplus >= 201703L
	if constexpr (is_true)
#else
	if (is_true)
#endif
		trace2_step("constexpr if", "true");
	else
		trace2_step("constexpr if", "false");
}

class Object {
public:
	Object()
	{
		trace2_step("class", "constructor");
	}
	Object(const Object &) = delete;
	Object &operator=(const Object &) = delete;
	~Object()
	{
		trace2_step("class", "destructor");
	}
	void use() const
	{
		trace2_data_intmax("class", nullptr, "member", member);
	}

private:
	int member = 5;
};

void use_names(const std::string &text)
{
	trace2_region_enter("c++", text.c_str(), nullptr);
	trace2_region_leave(text.c_str(), (text + "s").c_str(), nullptr);
	trace2_region_enter("c++", constant, nullptr);
	trace2_region_leave(nullptr, nullptr, nullptr);
	trace2_data_string("c++", nullptr, text.c_str(), text.c_str());
	trace2_printf("%s", text.c_str());
	trace2_printf(constant);
#ifndef __clang__   /* which warns of every NULL itself */
	trace2_step(NULL, NULL);
#else
	trace2_step(nullptr, nullptr);
#endif
}

void use_commas(int one)
{
	trace2_data_intmax("c++", nullptr, "one comma", std::max<int>(one, 2));
	trace2_data_intmax("c++", nullptr, "commas", std::max<int, std::less<int>>(one, 3, std::less<int>()));
	trace2_data_intmax("c++", nullptr, "types", Pair<int, long>::first(4, 5));
	trace2_data_string("c++", nullptr, "braces",
			   std::map<int, std::string>{ { 1, "one" }, { 2, "two" } }.at(1 + one).c_str());
	trace2_data_intmax("c++", nullptr, "lambda", [one](int a, int b) {
		int sum = a, more = b;
		trace2_step("c++", "inside");
		return one + sum + more;
	}(1, 2));
	trace2_region_enter_printf("c++", "message", nullptr, "%d", Pair<int, long>::first(6, 7));
	trace2_region_leave_printf("c++", "message", nullptr, "%d", std::max<int, std::less<int>>(one, 8, {}));
}

void throw_in_regions(int n)
{
	trace2_region_enter("c++", "throws", nullptr);
	if (!n)
		throw std::string("caught");
	throw_in_regions(n - 1);
	trace2_region_leave("c++", "throws", nullptr);
}

/* Of an object, as long as it lives */
struct Task {
	explicit Task(const std::string &label) : name(label), scope(__FILE__, __LINE__, "c++", name.c_str()) {}
	std::string name;
	trace2_scope scope;
};

template <class T> void use_scope(T value)
{
	TRACE2_SCOPE("c++", std::is_same<T, int>::value ? "int" : "other");
	const Task task("a task");

	try {
		TRACE2_SCOPE("c++", "try");
		[&value] {
			TRACE2_SCOPE("c++", "lambda");
			throw value;
		}();
	} catch (T) {
		trace2_step("c++", "caught");
	}
}

void use_exception()
{
	const uint64_t depth = trace2_region_depth();

	try {
		throw_in_regions(2);
	} catch (const std::string &what) {
		trace2_region_unwind(depth);
		trace2_step("c++", what.c_str());
	}
}

int use_more(int one)
{
	use_names("a string");
	use_commas(one);
	use_in_template(1, "literal");
	use_in_template(2.0, constant);
	use_in_template('\3', std::string("a string").c_str());
	use_argument<uses_array>();
	use_constexpr_if<true>();
	use_constexpr_if<false>();
	Object().use();
	use_exception();
	use_scope(1);
	use_scope(std::string("thrown"));
	std::thread([] {
		trace2_thread_start("worker");
		trace2_step("c++", "thread");
		trace2_thread_exit();
	}).join();
	return 0;
}

}

int main(int argc, char **argv)
{
	return uses_all(argc, argv, use_more);
}
