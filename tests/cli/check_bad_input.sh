#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/cli/check_bad_input.sh [T2EXPAND]
#
# What t2expand does with input that is no .tlg, damaged or cut, with output that cannot be written, with
# options that mean nothing: exit status, one clear line on stderr, good parts still expanded, bounded memory.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
expand=$(realpath "${1:-$out/t2expand}")
cd "$tmp" || exit 1

# lines NAME FILE MIN MAX: so many lines
lines()
{
	local n

	n=$(wc -l <"$2")
	if [ "$n" -ge "$3" ] && [ "$n" -le "$4" ]; then pass; else fail "$1: $n lines, not $3 to $4"; fi
}

same()
{
	if cmp -s "$2" "$3"; then pass; else fail "$1: $2 and $3 differ"; fi
}

# overwrite FILE OFFSET: 40 bytes of noise
overwrite()
{
	printf '%40s' noise | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

size()
{
	stat -c %s "$1"
}

TRACE2_RAW=$tmp/good.tlg TRACE2_RAW_LZ4=0 "$out/examples/t2index" "$top/runtime" >/dev/null 2>&1
TRACE2_RAW=$tmp/lz4.tlg TRACE2_RAW_LZ4=1 "$out/examples/t2index" /usr/include >/dev/null 2>&1
[ -s good.tlg ] && [ -s lz4.tlg ] || { echo "nothing was recorded"; exit 1; }

expect "a good file" 0 "" "$expand" good.tlg
cp stdout good.perf
good=$(wc -l <good.perf)
expect "a good file, compressed" 0 "" "$expand" lz4.tlg
cp stdout lz4.perf
"$expand" - <good.tlg >stdin.perf 2>err
same "standard input" good.perf stdin.perf
# shellcheck disable=SC2002
cat good.tlg | "$expand" - >pipe.perf 2>err
same "a pipe" good.perf pipe.perf
"$expand" --format=raw lz4.tlg | "$expand" - --format=perf >raw.perf 2>err
same "by way of raw" lz4.perf raw.perf
"$expand" good.tlg -o o.perf
same "into a file" good.perf o.perf

# Options
expect "no file" 2 "no file" "$expand"
expect "unknown format" 2 "--format is one of normal, perf, .*raw, not: xyz" "$expand" --format=xyz good.tlg
expect "an option that the format does not have" 2 "ns is not for --format=tree, only for: perf, event" "$expand" \
	--format=tree --ns good.tlg
expect "unknown option" 2 "^t2expand: no such option: --colour; did you mean --color\?" "$expand" --colour good.tlg
expect "nesting that is no number" 2 "not a number: x" "$expand" --nesting=x good.tlg
expect "unknown form of --show_format" 2 "xml or md" "$expand" --show_format=html
expect "help" 0 "" "$expand" --help
expect "version" 0 "" "$expand" --version
expect "layout" 0 "" "$expand" --show_format

# Input that cannot be read
expect "missing" 1 "missing.tlg: No such file" "$expand" missing.tlg
mkdir nothing.d
expect "directory without traces" 1 "nothing.d: no .tlg files" "$expand" nothing.d
: >empty.tlg
expect "empty" 1 "empty.tlg: empty" "$expand" empty.tlg
expect "text" 1 "not a .tlg" "$expand" "$top/FORMAT.md"
expect "program" 1 "not a .tlg" "$expand" /bin/sh
expect "noise" 1 "not a .tlg" sh -c "head -c 100000 /dev/urandom | '$expand' -"
printf '\004\042\115\030' >magic.tlg
expect "LZ4 magic alone" 1 "cut off" "$expand" magic.tlg
expect "missing beside a good one" 1 "missing.tlg" "$expand" missing.tlg good.tlg
same "the good one is expanded" good.perf stdout
cp good.tlg secret.tlg
chmod 000 secret.tlg
if [ "$(id -u)" -ne 0 ]; then
	expect "unreadable" 1 "Permission denied" "$expand" secret.tlg
elif command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups "$expand" --version >/dev/null 2>&1; then
	chmod 755 .
	expect "unreadable" 1 "Permission denied" setpriv --reuid 65534 --clear-groups "$expand" secret.tlg
fi

# The same file, by whatever name
ln -s good.tlg link.tlg
ln good.tlg hard.tlg
for again in good.tlg ./good.tlg link.tlg hard.tlg "$tmp/good.tlg"; do
	expect "given twice, as $again" 0 "^t2expand: $again: (the same file as good.tlg|given more than once), counts? once" \
		"$expand" good.tlg "$again"
	same "counts once, as $again" good.perf stdout
	check "one line says so, for $again" test "$(wc -l <err)" -eq 1
done
expect "standard input, too" 0 "good.tlg: the same file as standard input" sh -c "'$expand' - good.tlg <good.tlg"
same "standard input counts once" good.perf stdout
expect "standard input twice" 0 "standard input: given more than once" sh -c "cat good.tlg | '$expand' - -"
same "standard input twice counts once" good.perf stdout
mkdir twice.d
cp good.tlg twice.d
ln -s good.tlg twice.d/link.tlg
expect "in a directory" 0 "twice.d/link.tlg: the same file as twice.d/good.tlg" "$expand" twice.d
same "in a directory counts once" good.perf stdout
expect "a directory twice" 0 "twice.d/good.tlg: given more than once" "$expand" twice.d twice.d/
expect "copies are files of their own" 0 "" "$expand" --format=raw good.tlg twice.d/good.tlg
check "copies are files of their own" test "$(size stdout)" -eq $((2 * $("$expand" --format=raw good.tlg | wc -c)))
mkdir many.d
TRACE2_RAW=$tmp/few.tlg "$out/examples/t2index" "$tmp/nothing.d" >/dev/null 2>&1
for ((i = 0; i < 4100; i++)); do echo "many.d/$i.tlg"; done | xargs -n 500 sh -c 'tee "$@" <few.tlg >/dev/null' tee
expect "a directory of many" 0 "" "$expand" --format=raw many.d
check "all of them" test "$(size stdout)" -eq $((4100 * $("$expand" --format=raw few.tlg | wc -c)))
for ((i = 0; i < 20; i++)); do ln -s good.tlg "twice.d/$i.tlg"; done
expect "many twice" 0 "inputs: 11 more files were given more than once" "$expand" twice.d

# Names that are none, or end like a message
for option in --format --nesting --jobs --live --show_format; do
	expect "$option of nothing" 2 '"" \(t2expand --help' "$expand" $option= good.tlg
done
for option in --output --layout --recover; do
	expect "$option of nothing" 1 '"": No such file' "$expand" $option= good.tlg
done
expect "a file without a name" 1 '"": No such file' "$expand" ""
expect "a file like a message" 1 '"x:": No such file' "$expand" x:

# Damage
n=$(size good.tlg)
cp good.tlg middle.tlg
overwrite middle.tlg $((n / 2))
expect "damage in the middle" 3 "middle.tlg: byte [0-9]+: .*skipped [0-9]+ bytes" "$expand" middle.tlg
lines "the good parts of it" stdout $((good / 3)) $((good - 1))
head -c $((n - 100)) good.tlg >cut.tlg
expect "cut in the middle of a block" 3 "cut off" "$expand" cut.tlg
lines "what is before the cut" stdout $((good / 3)) "$good"
# not where a block begins: these have multiples of 24 bytes
tail -c $((n / 2 | 1)) good.tlg >joined.tlg
expect "joined in the middle" 3 "joined.tlg: byte 0: .*skipped" "$expand" joined.tlg
"$expand" good.tlg --format=xml >good.xml
# without the last block, END: as if the process had been killed
end=$(awk -F'"' '/^<BLOCK/ { at += 24 * (size + 1); size = $(NF - 1); last = at } END { print last - 0 }' good.xml)
head -c "$((end - 24))" good.tlg >killed.tlg
expect "killed, or still running" 0 "killed.tlg: .*did not end" "$expand" killed.tlg
n=$(size lz4.tlg)
cp lz4.tlg lz4bad.tlg
overwrite lz4bad.tlg $((n / 2))
expect "damage in an LZ4 frame" 3 "lz4bad.tlg: byte [0-9]+: .*skipped [0-9]+ bytes" "$expand" lz4bad.tlg
lines "the good frames" stdout 100 $(($(wc -l <lz4.perf) - 1))
head -c $((n - 50)) lz4.tlg >lz4cut.tlg   # in the last one, which holds the end alone
expect "a cut LZ4 frame" 3 "cut off" "$expand" lz4cut.tlg
start=$(grep -abo "$(printf '\004\042\115\030')" lz4.tlg | head -n 1 | cut -d: -f1)
for ((i = 0; i < 24; i++)); do
	cp lz4.tlg flip.tlg
	byte=$(od -An -tu1 -j $((start + i)) -N 1 lz4.tlg)
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $((byte ^ (i * 7 + 1) % 255 + 1)))" |
		dd of=flip.tlg bs=1 seek=$((start + i)) conv=notrunc status=none
	expect "byte $i of a frame" 3 "flip.tlg: (uncompressed )?byte [0-9]+: [a-zA-Z]" "$expand" flip.tlg
done
for ((i = 0; i < 20; i++)); do cat good.tlg && printf '%40s' noise; done >many.tlg
expect "damage in many places" 3 "more damaged places" "$expand" many.tlg

# Output
expect "full disk" 1 "No space left" sh -c "'$expand' good.tlg >/dev/full"
expect "full disk, -o" 1 "/dev/full: No space left" "$expand" good.tlg -o /dev/full
expect "output in a missing directory" 1 "none/x: No such file" "$expand" good.tlg -o none/x
cp good.tlg self.tlg
expect "input is output" 1 "input and the output" "$expand" self.tlg -o self.tlg
same "and is not touched" good.tlg self.tlg
expect "input is output by another name" 1 "input and the output" "$expand" self.tlg -o ./../"$(basename "$tmp")"/self.tlg
expect "input is standard output" 1 "input and the output" sh -c "'$expand' self.tlg >>self.tlg"
expect "a reader that goes away" 0 "" bash -c "'$expand' lz4.tlg --format=event | head -n 1 >/dev/null"
expect "the same, SIGPIPE ignored" 0 "" \
	bash -c "trap '' PIPE; ('$expand' lz4.tlg --format=xml; [ \$? -eq 141 ]) | head -n 1 >/dev/null"

# Layouts
printf '<RAW_FORMAT' >bad.xml
expect "layout that is no XML" 1 "bad.xml: line 1: " "$expand" --layout=bad.xml good.tlg
expect "layout that is missing" 1 "none.xml: No such file" "$expand" --layout=none.xml good.tlg
{
	echo '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
	echo '<RAW_FORMAT version="&b;"/>'
} >bomb.xml
expect "layout with entities" 1 "document type" "$expand" --layout=bomb.xml good.tlg
"$expand" --show_format >own.xml
expect "the layout of this machine" 0 "" "$expand" --layout=own.xml good.tlg
same "gives the same text" good.perf stdout

# Memory: what comes is larger than what is allowed
for _ in 1 2 3; do
	TRACE2_RAW=$tmp/large.tlg TRACE2_RAW_LZ4=0 "$out/examples/t2index" /usr/include >/dev/null 2>&1
done
# shellcheck disable=SC2016
little='ulimit -v 65536; cat large.tlg large.tlg large.tlg large.tlg | "$0" - --format=$1'
expect "little memory, perf" 3 "there before" bash -c "$little" "$expand" perf
expect "little memory, xml" 3 "there before" bash -c "$little" "$expand" xml

well_said
total
