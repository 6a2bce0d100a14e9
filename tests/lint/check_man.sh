#!/bin/bash
# SPDX-License-Identifier: MIT
# Do the manual pages say what is so?  mandoc finds nothing to complain of; trace2(3) has every function of
# trace2.h with its arguments, trace2-prof(3) those of trace2_prof.h, trace2-env(7) every setting that the code knows and no other, t2expand(1) every
# option; the examples of trace2(3) and trace2-prof(3) compile without warnings, run, and show what they should.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1
need mandoc command -v mandoc

# agree NAME A B: two sorted lists, neither of them empty, are the same
agree()
{
	{
		[ -s "$2" ] && [ -s "$3" ] || echo "nothing found"
		comm -23 "$2" "$3" | sed 's/$/ is only in the code/'
		comm -13 "$2" "$3" | sed 's/$/ is only in the page/'
	} >"$tmp/offences"
	none "$1" "$(cat "$tmp/offences")"
}

for page in expand/t2expand.1 expand/t2.1 runtime/trace2.3 runtime/trace2-prof.3 runtime/trace2-env.7 \
	runtime/trace2-tutorial.7 expand/t2-fleet.7; do
	# which other pages are installed says nothing about this one
	mandoc -Tlint "$page" 2>/dev/null | grep -v 'referenced manual not found' >"$tmp/offences"
	none "mandoc -Tlint $page" "$(cat "$tmp/offences")"
done

# prototypes PAGE: those of its synopsis
prototypes()
{
	awk -F'"' '
	/^\.Ft / { type = substr($0, 5); if (type !~ /\*$/) type = type " " }
	/^\.Fn / { split($1, word, " "); list = ""; n = 0
		for (i = 2; i < NF; i += 2) list = list (n++ ? "," : "") $i
		if ($NF ~ /\.\.\./) list = list ",..."
		print type word[2] "(" list ")" }
	/^\.Fo / { name = substr($0, 5); list = ""; n = 0 }
	/^\.Fa / { argument = $0; sub(/^\.Fa /, "", argument); gsub(/"/, "", argument)
		list = list (n++ ? "," : "") argument }
	/^\.Fc/ { print type name "(" list ")" }
	/^\.Sh DESCRIPTION/ { exit }' "$1" | sed 's/, /,/g' | sort
}

# ---- trace2(3) --------------------------------------------------------------------------------------
# Prototypes as "type name(type argument,...)".  Of a function with a place the page shows the macro.
${CC:-cc} -E -P runtime/trace2.h | tr '\n' ' ' | sed -E 's/__attribute__ *\(\(format[^;]*\)\)//g; s/;/;\n/g' |
	grep -oE '(void|int|uint64_t|const char \*) ?trace2_[a-z0-9_]+\([^)]*\) *;' |
	sed -E 's/[[:blank:]]+/ /g; s/, /,/g; s/ *;$//; s/_fl\(const char \*file,int line,?/(/
		/printf/!s/,\.\.\.//; s/\(void\)/()/' | sort >"$tmp/header"
prototypes runtime/trace2.3 >"$tmp/page"
agree "the prototypes in trace2(3)" "$tmp/header" "$tmp/page"

grep -oE '^	trace2_[a-z0-9_]+' runtime/trace2.map | tr -d '\t' | sort >"$tmp/exports"
sed '1,/^\.Sh DESCRIPTION/d' runtime/trace2.3 | grep -oE '\btrace2_[a-z0-9_]+_fl\b' | sort -u >"$tmp/page"
grep '_fl$' "$tmp/exports" >"$tmp/placed"
agree "the functions with a place in trace2(3)" "$tmp/placed" "$tmp/page"

# Every function is described, by the name that users have for it.
sed 's/_fl$//' "$tmp/exports" | sort >"$tmp/named"
sed -n 's/^\.It Fn \(trace2_[a-z0-9_]*\).*/\1/p' runtime/trace2.3 | sort >"$tmp/page"
agree "the descriptions in trace2(3)" "$tmp/named" "$tmp/page"

# ---- trace2-prof(3) ---------------------------------------------------------------------------------
${CC:-cc} -E -P runtime/trace2_prof.h | grep -v '^#' | tr '\n' ' ' | sed 's/;/\n/g' | grep -E 'trace2_pp?rof_[a-z0-9_]*\(' | grep -v typedef |
	sed -E 's/[[:blank:]]+/ /g; s/^ //; s/, /,/g; s/\(void\)$/()/' | sort >"$tmp/header"
prototypes runtime/trace2-prof.3 >"$tmp/page"
agree "the prototypes in trace2-prof(3)" "$tmp/header" "$tmp/page"
grep -oE 'trace2_pp?rof_[a-z0-9_]+\(' "$tmp/header" | tr -d '(' | sort >"$tmp/named"
sed -n 's/^\.It Fn \(trace2_[a-z0-9_]*\).*/\1/p' runtime/trace2-prof.3 | sort >"$tmp/page"
agree "the descriptions in trace2-prof(3)" "$tmp/named" "$tmp/page"

# ---- trace2-env(7) ----------------------------------------------------------------------------------
# The table of settings, a line each: NAME;KEY;DEFAULT;LEAST;MOST;WORDS, "-" for what is not there
sed -nE 's/^	(TEXT|COPY|BOOL|COUNT|SIZE|TIME|WORD)\((.*)\),.*/\1 \2/p' runtime/settings/tr2_env.c | awk -F'"' '
	function or_none(text) { return text == "" ? "-" : text }
	{
		kind = $1; sub(/ .*/, "", kind)
		is_word = kind == "WORD"
		print or_none($2) ";" or_none($4) ";" or_none($6) ";" or_none(is_word ? "" : $8) ";" \
			or_none(is_word ? "" : $10) ";" or_none(is_word ? $8 : "")
	}' >"$tmp/table"
sed '/^\.Sh DESTINATIONS/,$d' runtime/trace2-env.7 >"$tmp/settings"

cut -d';' -f1 "$tmp/table" | sed 's/^-$//; s/^/TRACE2_/; s/_$//' | sort >"$tmp/code"
sed -n 's/^\.It Ev \(TRACE2[A-Z0-9_]*\).*/\1/p' "$tmp/settings" | sort >"$tmp/page"
agree "the variables in trace2-env(7)" "$tmp/code" "$tmp/page"

# entry NAME: what the page says of a variable, up to the next one, as one line
entry()
{
	awk -v name="$1" '/^\.It Ev / { is_on = $3 == name } is_on { printf "%s ", $0 }' "$tmp/settings"
}
while IFS=';' read -r name _ otherwise least most words; do
	name=TRACE2_${name#-}
	name=${name%_}
	text=$(entry "$name")
	[[ $otherwise = - || $words != - || $text = *"default $otherwise"[,:\;.\ ]* ]] ||
		echo "$name: default $otherwise"
	[[ $least = - || $most = - || $text = *"$least to $most"[,\ ]* ]] || echo "$name: $least to $most"
	[ "$words" != - ] || continue
	[[ $text = *" $otherwise "*" default"* ]] || echo "$name: default $otherwise"
	for word in $words; do
		[[ $text = *@(Ql|Cm)\ "$word"\ * ]] || echo "$name: $word"
	done
done <"$tmp/table" >"$tmp/offences"
none "defaults, bounds and words in trace2-env(7)" "$(cat "$tmp/offences")"

grep -hoE 'tr2_env_(get|pass_over)\("[A-Z0-9_]*"' runtime/*/*.c | sed 's/.*("//; s/"//; s/^$/-/' | sort -u |
	comm -23 - <(cut -d';' -f1 "$tmp/table" | sort) >"$tmp/offences"
none "settings that are asked for are in the table" "$(cat "$tmp/offences")"

grep -hoE '_variable\[\] = "[A-Z0-9_]*"' runtime/settings/tr2_sid.c | sed 's/.* "//; s/"//' | sort >"$tmp/code"
sed '/^\.Sh DESTINATIONS/,$d' runtime/trace2-env.7 | sed -n 's/^\.It Ev \(GIT_[A-Z0-9_]*\).*/\1/p' | sort >"$tmp/page"
agree "the variables between processes in trace2-env(7)" "$tmp/code" "$tmp/page"

cut -d';' -f2 "$tmp/table" | grep -v '^-$' | sort >"$tmp/code"
sed -n 's/^\.It .* Cm \(trace2\.[A-Za-z0-9]*\)/\1/p' "$tmp/settings" |
	tr '[:upper:]' '[:lower:]' | sort >"$tmp/page"
agree "git's keys in trace2-env(7)" "$tmp/code" "$tmp/page"

# ---- t2expand(1) ------------------------------------------------------------------------------------
{
	sed -n 's/^T2X_CLI_OPTION([A-Z_]*, "\([a-z_-]*\)".*/\1/p' expand/cli/t2x_options.def
	sed -n 's/^T2X_FORMAT_OPTION(\([a-z_]*\),.*/\1/p' expand/text/t2x_formats.def
	sed -n 's/^T2X_FILTER_OPTION([a-z_]*, "\([a-z-]*\)",.*/\1/p' expand/query/t2x_filter.def
} | sort -u >"$tmp/code"
sed -n '/^\.It Fl/p' expand/t2expand.1 | grep -oE 'Fl -[a-z_-]+' | sed 's/Fl -//' | sort -u >"$tmp/page"
agree "the options in t2expand(1)" "$tmp/code" "$tmp/page"

sed -n 's/^T2X_FORMAT(\([a-z_]*\),.*/\1/p' expand/text/t2x_formats.def | sort >"$tmp/code"
sed -n '/^\.It Fl -format/,/^\.El/s/^\.It Cm //p' expand/t2expand.1 | sort >"$tmp/page"
agree "the formats in t2expand(1)" "$tmp/code" "$tmp/page"

sed -n 's/^T2X_COMMAND(\([a-z]*\),.*/\1/p' expand/cli/t2x_commands.def | sort >"$tmp/code"
sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' expand/t2.1 | sort >"$tmp/page"
agree "the commands in t2(1)" "$tmp/code" "$tmp/page"

# ---- kinds of profiles ------------------------------------------------------------------------------
# NAME;RATE;USUAL of each kind; names alone of the views
kinds=$(tr '\n' ' ' <format/prof_kinds.def | grep -oE '\bPROF_KIND\([A-Z]+, [^"]*"[^"]*"' |
	sed -E 's/^PROF_KIND\([A-Z]+, ([a-z]+), [A-Z]+, [A-Z]+, ([a-z]+), "(.*)"$/\1;\2;\3/')
views=$(sed -nE 's/^PROF_VIEW\([A-Z]+, ([a-z]+),.*/\1/p' format/prof_kinds.def)

printf '%s\n' "$kinds" | cut -d';' -f1 | sort >"$tmp/code"
sed -n '/^\.It Fl -cpu/,/^\.It Fl o /s/^\.It Fl -\([a-z]*\).*/\1/p' expand/t2.1 | sort >"$tmp/page"
agree "the kinds of profiles in t2(1)" "$tmp/code" "$tmp/page"
sed -n '/^\.It Ev TRACE2_PROF$/,$p' runtime/trace2-env.7 | sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' |
	grep -vxE 'unwind|frames|late|leaks' | sort >"$tmp/page"
comm -12 "$tmp/code" "$tmp/page" >"$tmp/both"
agree "the kinds of profiles in trace2-env(7)" "$tmp/code" "$tmp/both"
printf '%s\n' "$views" | sort -m - "$tmp/code" >"$tmp/names"
sed -n 's/^\.It Cm \([a-z]*\) Ta .* Ta .*/\1/p' runtime/trace2-prof.3 | sort >"$tmp/page"
agree "the profiles in trace2-prof(3)" "$tmp/names" "$tmp/page"
sed -n '/^\.It Fl -profile Ns/,/^\.It Fl -debug/p' expand/t2expand.1 | sed -n 's/^\.Cm cpu , /cpu , /p' | tr -d ' ' |
	tr ',' '\n' | sort >"$tmp/page"
agree "the profiles in t2expand(1)" "$tmp/names" "$tmp/page"
while IFS=';' read -r name rate usual; do
	text=$(sed -n "/^\.It Ev TRACE2_PROF/,\$p" runtime/trace2-env.7 | awk -v name="$name" '
		/^\.It Cm / || /^\.El/ { is_on = $3 == name } is_on { printf "%s ", $0 }')
	[ "$rate" = onoff ] || [ -z "$usual" ] || grep -qE "by itself (\.Ql )?$usual ?[,.]" <<<"$text" || echo "$name: $usual"
done <<<"$kinds" >"$tmp/offences"
none "usual rates in trace2-env(7)" "$(cat "$tmp/offences")"

# ---- the example ------------------------------------------------------------------------------------
sed -n '/^\.\\" begin work\.c/,/^\.\\" end work\.c/p' runtime/trace2.3 | grep -v '^\.' | sed 's/\\e/\\/g' >"$tmp/work.c"

# Lines that the example's text must have, in this order
run_example()
{
	local line

	[ -e "$out/libtrace2.so" ] || { echo "no shared library in $out"; return; }
	${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iruntime -o "$tmp/work" "$tmp/work.c" -L"$out" -Wl,-rpath,"$out" \
		-ltrace2 -pthread || return
	env -i TRACE2_PERF=1 TRACE2_PERF_BRIEF=1 "$tmp/work" 2>"$tmp/perf" || echo "exit status $?"
	while read -r line; do
		sed '0,/'"$line"'/d' "$tmp/perf" >"$tmp/rest"
		cmp -s "$tmp/perf" "$tmp/rest" && echo "not there: $line"
		[ -s "$tmp/rest" ] || echo "not found, or the last: $line"
		mv "$tmp/rest" "$tmp/perf"
	done <<-'END'
		| main .*| version
		| start .*work
		| cmd_name .*work (work)
		| th01:worker .*| thread_start
		| region_enter .*label:round number 0
		| region_leave .*label:round
		| region_enter .*label:round number 2
		| data .*sum:
		| th_timer .*name:hash intervals:3 total:
		| thread_exit
		| main .*| exit
		| timer .*name:hash intervals:3
		| counter .*name:rounds value:3
	END
	grep -q '| atexit .*code:0' "$tmp/perf" || echo "not there: atexit"
}
run_example >"$tmp/offences" 2>&1
none "the example in trace2(3)" "$(cat "$tmp/offences")"

# One of the two files is open still, by open_file() in work().
run_files()
{
	[ -e "$out/libtrace2-prof.so" ] || { echo "no profiler in $out"; return; }
	sed -n '/^\.\\" begin files\.c/,/^\.\\" end files\.c/p' runtime/trace2-prof.3 | grep -v '^\.' >"$tmp/files.c"
	${CC:-cc} -std=c11 -Wall -Wextra -Werror -rdynamic -Iruntime -o "$tmp/files" "$tmp/files.c" -L"$out" \
		-Wl,-rpath,"$out" -ltrace2-prof -ltrace2 || return
	env -i "$tmp/files" >"$tmp/profile" || echo "exit status $?"
	for line in '^files profile: total 1' 'open_file+0x' 'work+0x'; do
		grep -q "$line" "$tmp/profile" || echo "not there: $line"
	done
}
run_files >"$tmp/offences" 2>&1
none "the example in trace2-prof(3)" "$(cat "$tmp/offences")"

total
