#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/interop/page/pictures.sh [DIRECTORY]      Make the pictures of README.md again, in expand/page or elsewhere:
# of the traces that its commands record.  build/interop/page must be there: `make interop` makes it.
set -eu

top=$(cd "$(dirname "$0")/../../.." && pwd)
to=${1:-$top/expand/page}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export T2_MODULES=$top/build/interop/page

# picture NAME HASH: of $tmp/NAME.tlg
picture()
{
	"$top/build/t2" export --format=html -o "$tmp/$1.html" "$tmp/$1.tlg"
	node "$top/tests/interop/page/picture.mjs" "$tmp/$1.html" "$2" "$to/$1.png"
}

TRACE2_RAW=$tmp/screenshot.tlg "$top/build/examples/t2index" /usr/include >/dev/null
picture screenshot 'view={0.28}-{0.34}&region=0-2-40'
"$top/build/t2" record --cpu=250 --block --heap -o "$tmp/profile.tlg" -- "$top/build/examples/t2index" /usr/include >/dev/null
picture profile 'view={0.2}-{0.27}&fold=t0'
