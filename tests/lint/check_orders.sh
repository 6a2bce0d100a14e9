#!/bin/bash
# SPDX-License-Identifier: MIT
# The memory-order convention: every acquire and release carries the tag [Mn] of its pair at most 3 lines
# away ([Pn] in prof/), every tag is in the table of tr2_ring.h or tr2p_sample.h and has a release and an acquire side, every relaxed
# access says why on its line or just above: "relaxed: ...".  So does a read-modify-write of which nothing
# but its atomicity is used.  Where the table says "the kernel's write" that is the release side.  A variable that is accessed so somewhere is accessed so everywhere.
# Ends with "N passed, N failed".
set -u

awk '
function bad(text) { print "FAIL " FILENAME ":" FNR ": " text; failed++ }
function near_tag(i,   j) {
	for (j = i - 3; j <= i + 3; j++)
		if (match(text[j], /\[[MP][0-9]+\]/))
			return substr(text[j], RSTART, RLENGTH)
	return ""
}
# The tags near a site of this kind: all of them, for one site may be part of two pairs.
function note(i, sides,   j, line, tag, k, n, list) {
	for (j = i - 3; j <= i + 3; j++) {
		line = text[j]
		while (match(line, /\[[MP][0-9]+\]/)) {
			tag = substr(line, RSTART, RLENGTH)
			n = split(sides, list, "")
			for (k = 1; k <= n; k++)
				seen[tag, list[k]] = 1
			used[tag] = name
			line = substr(line, RSTART + RLENGTH)
		}
	}
}
function excused(i,   j) {
	for (j = i; j >= i - 3; j--)
		if (text[j] ~ /relaxed[:,]/)
			return 1
	return 0
}
function site(i, sides) {
	if (near_tag(i) == "") {
		print "FAIL " name ":" i ": no [Mn] or [Pn] within 3 lines"
		failed++
	} else
		passed++
	note(i, sides)
}
# What is left of a line without comments and atomic accesses; a variable that they access by its name is noted.
function plain_part(line,   name) {
	gsub(/\/\*.*\*\//, "", line)
	while (match(line, /(tr2_[a-z]+_(rlx|acq|rel|acq_rel)|__atomic_[a-z_]+)\(&[a-z0-9_]+[,)]/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		sub(/.*&/, "", name)
		atomic[name] = 1
		line = substr(line, 1, RSTART - 1) " " substr(line, RSTART + RLENGTH)
	}
	return line
}
# Of every word in code, where it stands; a declaration is no access.
function note_words(i,   line, word) {
	line = plain_part(text[i])
	if (line ~ /^\t?(static|extern) / || line ~ /^[A-Za-z][A-Za-z0-9_ *]* \*?[a-z0-9_]+( = [^;]*)?;/)
		return
	while (match(line, /[a-z_][A-Za-z0-9_]*/)) {
		word = substr(line, RSTART, RLENGTH)
		if (word ~ /^g_|^tr2_g_|_v1$|^next_id$/)
			plain[word] = plain[word] " " name ":" i
		line = substr(line, RSTART + RLENGTH)
	}
}
function check_file(   i) {
	if (name ~ /tr2_atomic\.h$/)
		return
	for (i = 1; i <= lines; i++) {
		if (text[i] ~ /^[ \t]*\*/ || text[i] ~ /^[ \t]*\/\*/)
			continue
		note_words(i)
		if (text[i] ~ /tr2_load_acq\(|^\tfence_acquire\(/)
			site(i, "A")
		if (text[i] ~ /tr2_(store|add)_rel\(|tr2_fence_rel\(|__ATOMIC_RELEASE/)
			site(i, "R")
		if (text[i] ~ /tr2_[a-z]+_acq_rel\(/ && !excused(i))
			site(i, "AR")
		if (text[i] ~ /tr2_[a-z]+_rlx\(/ && !excused(i)) {
			print "FAIL " name ":" i ": no \"relaxed:\" comment"
			failed++
		} else if (text[i] ~ /tr2_[a-z]+_rlx\(/)
			passed++
	}
}
FNR == 1 && NR > 1 { check_file() }
FNR == 1 { split("", text); name = FILENAME }
{ text[FNR] = $0; lines = FNR }
FILENAME ~ /tr2(_ring|p_sample)\.h$/ && /^ \* +\[[MP][0-9]+\]/ { table[$2] = 1; if ($0 ~ /the kernel.s write/) seen[$2, "R"] = 1 }
END {
	check_file()
	for (word in atomic)
		if (word in plain) {
			print "FAIL" plain[word] ": " word " is accessed atomically elsewhere"
			failed++
		} else
			passed++
	for (tag in used)
		if (!(tag in table)) {
			print "FAIL " used[tag] ": " tag " is not in the table of tr2_ring.h or tr2p_sample.h"
			failed++
		}
	for (tag in table) {
		if (seen[tag, "A"] && seen[tag, "R"])
			passed++
		else {
			print "FAIL " tag ": no " (seen[tag, "A"] ? "release" : "acquire") " side"
			failed++
		}
	}
	printf "%d passed, %d failed\n", passed, failed
	exit failed > 0
}' runtime/*.h runtime/*/*.[ch] expand/recover/t2x_ring_copy.c expand/live/t2x_ctl_page.c
