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
	none "$name" "$(diff <(sed 's/t2expand/t2/g' one) <(sed 's/t2expand/t2/g' two))"
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

expect "no command" 2 '^t2: no command' t2
expect "an unknown command" 2 '^t2: no such command: run.tlg \(t2 --help tells more\)$' t2 run.tlg
expect "help of an unknown command" 2 'no such command: nothing' t2 help nothing
expect "export without a format" 2 'export needs --format' t2 export run.tlg
expect "live without a process" 2 'needs a process id' t2 live
expect "live with a name" 2 'not a process id: prog' t2 live prog
expect "format with too much" 2 'takes one word: json' t2 format xml json
expect "t2expand knows no commands" 1 'show: No such file' t2expand show run.tlg

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
