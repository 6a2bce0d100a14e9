#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/lint/check_words.sh [FILE...]
#
# One word for one thing: no file, and no file's name, has a word that the glossary in CONTRIBUTING.md retires, as a word or
# as part of a name.  The words are those in backticks in its last column; an ending (-s, -ed, -ing) does not hide one.
# What has to stay is allowed below, with the reason.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1

# All but what others wrote, or wrote down once and for all
if [ $# -eq 0 ]; then
	mapfile -t files < <(git ls-files -- '*.md' '*.[1-9]' .ci Makefile format runtime expand tests bench \
		':!tests/conformance/*/*' ':!tests/fuzz/corpus' ':!tests/data' | sort -u)
	set -- "${files[@]}"
fi
printf '%s\n' "$@" >"$tmp/names"

# allow FILE PATTERN REASON: lines of FILE that match the pattern may have it
allowed=()
allow()
{
	allowed+=(-e "^$1:[0-9]+:.*$2")
}
allow CONTRIBUTING.md '\| .*\| .*\|$' "the glossary itself"
allow '(FORMAT.md|runtime/trace2-env.7|format/tlg_[a-z]*.[cdef]*|tests/lint/check_words.sh)' 'waited in vain' \
	"the name of a reason, in the frozen table of events"
allow '(expand/page|tests/page|tests/interop)/[^:]*' '([Ll]ane|Math\.)' "what viewers of traces call it; JavaScript's"

sed -n '/^## Glossary/,$p' CONTRIBUTING.md | awk -F'|' '/^\|/ { print $4 }' | grep -oE '`[^`]+`' | tr -d '`' |
	sort -u >"$tmp/retired"
check "the glossary retires words" [ "$(wc -l <"$tmp/retired")" -ge 20 ]
while read -r word; do
	pattern="(^|[^[:alnum:]])$word(e?s|e?d|ing)?([^[:alnum:]]|\$)"
	{
		grep -IHniE "$pattern" "$@" | grep -vE "${allowed[@]}"
		grep -iE "$pattern" "$tmp/names"
	} >"$tmp/found"
	none "\"$word\", see the glossary in CONTRIBUTING.md" "$(cut -c1-160 "$tmp/found")"
done <"$tmp/retired"
total
