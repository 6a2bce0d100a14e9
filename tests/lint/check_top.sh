#!/bin/bash
# SPDX-License-Identifier: MIT
# The top level has the documents and folders that it should have and nothing else; the first version in CHANGELOG.md is
# that of trace2.h, which no other source has a copy of; the links of the documents lead somewhere.  Ends with
# "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
cd "$top" || exit 1
documents=(CHANGELOG.md CONTRIBUTING.md FORMAT.md README.md SECURITY.md)
list=$(git ls-files 2>/dev/null) || list=
[ -n "$list" ] || list=$(find . -path ./build -prune -o -type f -print | sed 's|^\./||')

none "the top level" "$(diff <(printf '%s\n' .ci .clang-format .gitignore LICENSE Makefile "${documents[@]}" \
	bench expand format runtime tests | sort) <(cut -d/ -f1 <<<"$list" | sort -u))"

version=$(sed -n 's/^#define TRACE2_VERSION "\(.*\)"/\1/p' runtime/trace2.h)
check "trace2.h has a version of three numbers" grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' <<<"$version"
check "CHANGELOG.md begins with version $version" \
	[ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ]
none "CHANGELOG.md: versions from the newest to the oldest, each once" \
	"$(sed -n 's/^## //p' CHANGELOG.md | sort -C -ruV || sed -n 's/^## //p' CHANGELOG.md)"
none "the version is only in trace2.h, but for what documents show" \
	"$(grep -rnF "\"$version" Makefile format runtime expand tests/library tests/tools --include='*.[ch]' --include=Makefile \
		--include='*.in' --include='*.mk' --include='*.def' | grep -v '^runtime/trace2\.h:')"
for document in "${documents[@]}"; do
	none "$document: links that lead nowhere" "$(grep -oE '\]\([A-Za-z][^)]*\)' "$document" | sed 's/^](//; s/[)#].*//' |
		grep -v '^http' | sort -u | while read -r path; do [ -e "$path" ] || echo "$path"; done)"
done
total
