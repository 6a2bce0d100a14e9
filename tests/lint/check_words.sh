#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/lint/check_words.sh [FILE...]
#
# One word for one thing: no file has a word that the glossary in CONTRIBUTING.md retires, as words of a text or as part
# of a name.  The words are those in backticks in its last column; an ending (-s, -ed, -ing) does not hide one.  What has
# to stay is allowed below, with the reason.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1

if [ $# -eq 0 ]; then
	set -- README.md CONTRIBUTING.md FORMAT.md runtime/*.[37] tests/RELIABILITY.md bench/NOTES.md $(git ls-files '*/README.md')
fi

# allow FILE PATTERN REASON: lines of FILE that match the pattern may have it
allowed=()
allow()
{
	allowed+=(-e "^$1:[0-9]+:.*$2")
}
allow CONTRIBUTING.md '\| .*\| .*\|$' "the glossary itself"
allow '(FORMAT.md|runtime/trace2-env.7)' 'waited in vain' "the name of a reason, in the frozen table of events"

sed -n '/^## Glossary/,$p' CONTRIBUTING.md | awk -F'|' '/^\|/ { print $4 }' | grep -oE '`[^`]+`' | tr -d '`' |
	sort -u >"$tmp/retired"
check "the glossary retires words" [ "$(wc -l <"$tmp/retired")" -ge 20 ]
while read -r word; do
	grep -HniE "(^|[^[:alnum:]])$word(e?s|e?d|ing)?([^[:alnum:]]|\$)" "$@" |
		grep -vE "${allowed[@]}" >"$tmp/found"
	none "\"$word\", see the glossary in CONTRIBUTING.md" "$(cut -c1-160 "$tmp/found")"
done <"$tmp/retired"
total
