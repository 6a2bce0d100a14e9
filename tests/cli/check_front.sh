#!/bin/bash
# SPDX-License-Identifier: MIT
# t2, the program by its second name: each command does what its option of t2expand does; --help fits on a screen.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
export PATH=$out:$PATH
cd "$tmp" || exit 1

printf 'start m.c 1 prog\nregion_enter m.c 4 cat lab NULL\nregion_leave m.c 6 cat lab NULL\nexit m.c 40 0\n' >calls.api
GIT_TRACE2_RAW=$tmp/run.tlg "$out/tests/replay" calls.api || exit 1

# same NAME COMMAND -- COMMAND: the same text, messages but for the program's name, and status
same()
{
	local name=$1 first=()

	shift
	while [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	"${first[@]}" >one 2>&1 </dev/null
	echo "exit status $?" >>one
	"${@:2}" >two 2>&1 </dev/null
	echo "exit status $?" >>two
	none "$name" "$(diff <(sed -E 's/t2expand|t2( [a-z]+)?( --help)/t2\2/g; s/^t2 [a-z]+:/t2:/' one) <(sed 's/t2expand/t2/g' two))"
}
same "show" t2 show run.tlg -- t2expand run.tlg
same "show in another format" t2 show --format=normal run.tlg -- t2expand --format=normal run.tlg
same "options behind files" t2 show run.tlg --brief -- t2expand --brief run.tlg
same "summary" t2 summary --sort=self run.tlg -- t2expand --summary --sort=self run.tlg
same "summary in another form" t2 summary --as=json run.tlg -- t2expand --summary=json run.tlg
same "tree" t2 tree run.tlg -- t2expand --format=tree run.tlg
same "tree with an option" t2 tree --brief run.tlg -- t2expand --format=tree --brief run.tlg
same "tree without a file" t2 tree -- t2expand --format=tree
same "export" t2 export --format=event run.tlg -- t2expand --format=event run.tlg
same "export into a file" t2 export --format=raw -o - run.tlg -- t2expand --format=raw run.tlg
same "recover a ring file" t2 recover nothing.ring -- t2expand --recover=nothing.ring
same "recover some of all" t2 recover --ring-pid=999999999 -- t2expand --recover-all --ring-pid=999999999
same "live" t2 live 999999999 -- t2expand --live=999999999
same "format" t2 format -- t2expand --show_format
same "format as Markdown" t2 format md -- t2expand --show_format=md
same "format of another kind" t2 format html -- t2expand --show_format=html
same "--version" t2 --version -- t2expand --version
same "a file that is not there" t2 show nothing.tlg -- t2expand nothing.tlg
same "help" t2 help -- t2 --help
for command in $(t2 help | grep -oE '^  [a-z]+'); do
	[ "$command" = help ] || same "help of $command" t2 help "$command" -- t2 "$command" --help
done

t2 help >out
t2 >stdout 2>err
check "no command: exit status 2" [ $? -eq 2 ]
check "no command: what there is, on stderr" cmp -s out err
check "no command: nothing on stdout" [ ! -s stdout ]
same "-h" t2 -h -- t2 help
same "-h of a command" t2 summary -h -- t2 help summary
same "-h of t2expand" t2expand -h -- t2expand --help
expect "an unknown command" 2 '^t2: no such command: nothing \(t2 --help tells more\)$' t2 nothing
expect "help of an unknown command" 2 'no such command: nothing' t2 help nothing
expect "a trace without a command" 2 '^t2: no such command: run.tlg; did you mean t2 show run.tlg\? ' t2 run.tlg
expect "no file is suggested that is not there" 2 '^t2: no such command: other.tlg \(' t2 other.tlg
expect "a misspelt command" 2 '^t2: no such command: sumamry; did you mean t2 summary\? ' t2 sumamry run.tlg
expect "a command that is cut" 2 '; did you mean t2 recover\? ' t2 recov
expect "a misspelt command of help" 2 '; did you mean t2 export\? ' t2 help exprot
expect "a misspelt option" 2 '^t2 summary: no such option: --srot; did you mean --sort\? \(t2 summary --help tells more\)$' \
	t2 summary --srot=self run.tlg
expect "a misspelt filter" 2 '; did you mean --category\? ' t2 show --catgeory=x run.tlg
expect "a misspelt option of record" 2 '^t2 record: no such option: --bolck; did you mean --block\? ' t2 record --bolck true
expect "an option like no other" 2 '^t2 show: no such option: --xylophone \(' t2 show --xylophone run.tlg
expect "a letter that is no option" 2 '^t2 show: no such option: -x ' t2 show -x run.tlg
expect "an option without its value" 2 '^t2 show: this option needs a value: --since ' t2 show --since
expect "a letter without its value" 2 '^t2 show: this option needs a value: -o ' t2 show run.tlg -o
expect "an option of record without its value" 2 '^t2 record: this option needs a value: --threads ' t2 record --threads
expect "an option with a value too much" 2 '^t2 show: this option takes no value: --brief=1 ' t2 show --brief=1 run.tlg
expect "an option that is cut too much" 2 '^t2 show: this option may be --recover, --recover-all: --reco ' t2 show --reco=x
expect "an option that is cut" 0 "" t2 show --brie run.tlg
expect "an error names the command" 1 '^t2 tree: nothing.tlg: No such file' t2 tree nothing.tlg
expect "an error of t2expand names it" 1 '^t2expand: nothing.tlg: No such file' t2expand nothing.tlg
expect "the end of an unfinished trace, too" 1 '^t2 recover: nothing.ring: No such file' t2 recover nothing.ring
version=$(sed -n 's/^.define TRACE2_VERSION "\(.*\)"/\1/p' "$top/runtime/trace2.h")
check "--version has that of trace2.h, $version" grep -qE "^t2 ${version//./\\.}, for the \.tlg format [0-9]+\.[0-9]+$" <(t2 --version)
expect "export without a format" 2 '^t2 export: needs --format' t2 export run.tlg
expect "live without a process" 2 'needs a process id' t2 live
expect "live with a name" 2 'not a process id: prog' t2 live prog
expect "format with too much" 2 'takes one word: json' t2 format xml json
expect "t2expand knows no commands" 1 'show: No such file' t2expand show run.tlg

# ---- help of a command --------------------------------------------------------------------------
# What it shows it knows, and nothing is shown that another command is for
options_of()
{
	t2 "$1" --help | sed -nE 's/^  (-o, )?(--[a-z_-]+).*/\2/p'
}
shows()
{
	options_of "$1" | grep -qx -- "$2"
}
for command in show summary tree diff export recover live stacks; do
	t2 help "$command" >out
	none "help of $command and its --list-options" \
		"$(diff <(options_of "$command" | sort) <(t2 "$command" --list-options | grep -oE '^--[a-z_-]+' | sort))"
	for option in --recover --recover-all --live --diff --summary --show_format --list-formats; do
		check "help of $command has no $option, which is a command" [ -z "$(options_of "$command" | grep -x -- $option)" ]
	done
	check "help of $command has -o, and filters" [ "$(options_of "$command" | grep -cxE -- '--(output|since)')" -eq 2 ]
done
for option in --sort --top --as --by; do
	check "help of summary has $option" shows summary $option
	for command in show tree diff stacks; do
		[ "$command $option" != "diff --as" ] || continue
		check "help of $command does not have $option" [ -z "$(options_of $command | grep -x -- $option)" ]
	done
done
check "help of tree has --brief" shows tree --brief
check "help of tree has no --nesting" [ -z "$(options_of tree | grep -x -- --nesting)" ]
check "help of tree has no --format" [ -z "$(options_of tree | grep -x -- --format)" ]
check "help of diff has --threshold" shows diff --threshold
check "help of diff has --as" shows diff --as
check "help of show has no --threshold" [ -z "$(options_of show | grep -x -- --threshold)" ]
check "help of recover has --delete" shows recover --delete
check "help of import has its own options, and none that it refuses" \
	[ "$(options_of import | tr '\n' ' ')" = '--output --detail --seconds ' ]
check "help of live has no --delete" [ -z "$(options_of live | grep -x -- --delete)" ]
check "help of format has no options" [ -z "$(options_of format)" ]
check "help of export has all formats" \
	[ "$(t2 help export | sed -n '/^Formats/,/^Options/p' | grep -c '^  ')" -eq "$(t2 --list-formats | wc -l)" ]
check "help of show has git's" \
	[ "$(t2 help show | sed -n '/^Formats/,/^Options/p' | awk '/^  / { print $1 }' | xargs)" = "normal perf event" ]

# ---- help ---------------------------------------------------------------------------------------
t2 help >out
check "t2 help has $(wc -l <out) lines, not more than 24" [ "$(wc -l <out)" -le 24 ]
check "t2 help has at most 80 columns" [ "$(wc -L <out)" -le 80 ]
t2expand --help >screen
check "t2expand --help has $(wc -l <screen) lines, not more than 50" [ "$(wc -l <screen)" -le 50 ]
check "t2expand --help has at most 80 columns" [ "$(wc -L <screen)" -le 80 ]
t2expand --list-formats | while read -r name _; do
	grep -qE "^  ([a-z_]+, )*$name\b" screen || echo "$name"
done >missing
none "t2expand --help has every format" "$(cat missing)"
t2expand --help=all >all
grep -oE -- '--[a-z_-]+' screen | sort -u | while read -r option; do
	grep -qE -- "^  $option([[:blank:]=[]|$)" all || echo "$option"
done >missing
none "the options in t2expand --help are in --help=all" "$(cat missing)"
sed -n 's/^T2X_CLI_OPTION([^,]*, "\([^"]*\)".*/--\1/p' "$top/expand/cli/t2x_options.def" |
	while read -r option; do
		grep -q -- "^  $option" all || echo "$option"
	done >missing
none "t2expand --help=all has every option" "$(cat missing)"
grep -E '^  --' all | awk 'length($0) > 80 && !/: /' >long
none "lines of options in --help=all have 80 columns" "$(grep -vF "$(sed -n '/^Options of formats/,/^Output/p' all)" long)"
same "--help=all" t2 --help=all -- t2expand --help=all
expect "--help of something else" 2 '^t2expand: --help is for all, not: formats' t2expand --help=formats

total
