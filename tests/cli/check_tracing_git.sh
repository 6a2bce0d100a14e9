#!/bin/bash
# SPDX-License-Identifier: MIT
# t2(1), TRACING GIT: the commands of that section run as they stand there, in a new repository with a home directory of
# its own, and show what the section says; and a trace takes less than a third of what its files take behind xz.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need git command -v git
need xz command -v xz
export HOME=$tmp/home PATH=$out:$PATH GIT_CONFIG_NOSYSTEM=1
unset XDG_CONFIG_HOME GIT_CONFIG_GLOBAL GIT_TRACE2 GIT_TRACE2_PERF GIT_TRACE2_EVENT GIT_TRACE2_EVENT_NESTING \
	GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
mkdir "$HOME" "$tmp/repository" && cd "$tmp/repository" || exit 1
git init -q . && git config user.name A && git config user.email a@example.org || exit 1
for name in one two three; do
	echo $name >$name
	git add $name && git commit -q -m "$name" || exit 1
done

# ---- the section ------------------------------------------------------------------------------------
awk '/^\.Sh/ { on = $0 == ".Sh TRACING GIT" } on && sub(/^\$ /, "")' "$top/expand/t2.1" >"$tmp/commands"
check "the section has commands" [ "$(wc -l <"$tmp/commands")" -gt 15 ]
while IFS= read -r command; do
	eval "$command" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$? want=0
	case $command in
	"t2 diff"*) want=1 ;;   # there are differences
	"t2 import"*"&") for ((i = 0; i < 100; i++)); do [ -S "$HOME/git.socket" ] && break; sleep 0.1; done ;;
	esac
	check "$command: exit status $want" [ $status -eq $want ]
	check "$command: says nothing else" [ ! -s "$tmp/stderr" ]
	case $command in
	"t2 summary"*) check "the summary has regions of git" grep -q do_read_index "$tmp/stdout" ;;
	"t2 tree"*) check "the tree has both commands" [ "$(grep -cE 'git (status|log)' "$tmp/stdout")" -eq 2 ] ;;
	"t2 show --category"*) check "a category is shown" grep -q '| index ' "$tmp/stdout" ;;
	"t2 export"*) check "a page is made" [ -s git.html ] ;;
	"t2 diff"*) check "the difference is found" grep -q read_directory "$tmp/stdout" ;;
	"t2 show --format=normal"*) check "the socket's events are shown" grep -q 'start git status' "$tmp/stdout" ;;
	esac
done <"$tmp/commands"
git status >"$tmp/stdout" 2>"$tmp/stderr"
check "it is off in the end" [ ! -s "$tmp/stderr" ]

# ---- what a trace takes -----------------------------------------------------------------------------
mkdir "$tmp/events"
for ((i = 0; i < 25; i++)); do
	for command in status "log --oneline -2" "diff HEAD" "rev-parse HEAD"; do
		GIT_TRACE2_EVENT=$tmp/events GIT_TRACE2_EVENT_NESTING=100 git $command >/dev/null
	done
done
t2 import -o "$tmp/events.tlg" "$tmp/events"
compressed=0
for file in "$tmp"/events/*; do
	compressed=$((compressed + $(xz -c "$file" | wc -c)))
done
taken=$(stat -c %s "$tmp/events.tlg")
echo "100 processes: $(cat "$tmp"/events/* | wc -c) bytes of JSON, $compressed behind xz, $taken as a trace"
check "a third of xz" [ $((3 * taken)) -lt $compressed ]
total
