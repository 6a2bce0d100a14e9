#!/bin/bash
# SPDX-License-Identifier: MIT
# The section SIGNALS of runtime/README.md against the code of runtime/:
#   1. the functions that it keeps from handlers are those that trace2.3 keeps from them
#   2. the files that its table names are those that block signals, or say what a handler blocks
#   3. no other code blocks signals than tr2_mask.h, and libtrace2-prof by the C library, which lets nobody block 32 and 33
# Ends with "N passed, N failed".
set -u
export LC_ALL=C
. "$(dirname "$0")/../common.sh"
cd "$top/runtime" || exit 1

sed -n '/^## SIGNALS/,/^## [^S]/p' README.md >"$tmp/section"
check "runtime/README.md has the section" [ -s "$tmp/section" ]

# Each .It that says so, or that refers to one which does; with the .It lines directly in front of it
awk '/^\.It Fn/ { names = was_it ? names "\n" $3 : $3; was_it = 1; next }
     { was_it = 0 }
     /^\.(El|Ss|Sh)/ { names = "" }
     names && tolower($0) ~ /not .*in signal handlers|nor in signal handlers|threads and signals: as/ { print names }' trace2.3 |
	sort -u >"$tmp/manual"
sed -n '/^- before/,/^All other/p' "$tmp/section" | sed '/^- of /,$d' | grep -oE 'trace2_[a-z0-9_]+' | sort -u >"$tmp/kept"
check "functions are kept from handlers" [ "$(wc -l <"$tmp/kept")" -gt 10 ]
none "kept from handlers: README.md (<), trace2.3 (>)" "$(diff "$tmp/kept" "$tmp/manual" | grep '^[<>]')"

grep -oE '`[a-z]+/tr2p?_[a-z0-9_]+\.[ch]`' "$tmp/section" | tr -d '`' | sort -u >"$tmp/table"
grep -lE 'tr2_mask_all\(|pthread_sigmask\(|sa_mask|sigaction\([a-z]+, &' -r --include='*.c' . | sed 's|^\./||' | sort -u >"$tmp/code"
# These only ask what is blocked, or what a signal's action is; or send on what the program asks for.
for file in base/tr2_mask.c base/tr2_sys.c prof/tr2p_exit.c; do
	check "$file blocks nothing" grep -qx "$file" "$tmp/code"
	sed -i "\|^$file\$|d" "$tmp/code"
done
none "files that block signals and are not in the table" "$(comm -13 "$tmp/table" "$tmp/code")"
none "files in the table that block none" "$(comm -23 "$tmp/table" "$tmp/code" | grep -vx record/tr2_reserve.h)"

# tr2p_filter.c knows the numbers of system calls.  tr2p_guard.c asks whether an address is there, by a call with a wrong
# first argument (~0), which blocks nothing.
none "masks that go past the C library and tr2_mask.h" \
	"$(grep -nE 'tr2_sys_sigmask|SYS_rt_sigprocmask|[^_]sigprocmask\(' -r --include='*.[ch]' . | grep -vE '^\./base/tr2_(mask\.[ch]|sys\.[ch]):|^\./prof/tr2p_(filter\.c:|guard\.c:[0-9]+:.*\(SYS_rt_sigprocmask, ~0L,)')"
check "tr2_mask.h leaves the signals of the C library out" grep -q 'TR2_MASK_ALL (~(TR2_SIGNALS_OF_LIBC' base/tr2_mask.h
total
