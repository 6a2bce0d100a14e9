#!/bin/bash
# SPDX-License-Identifier: MIT
# The formats of expand/export/ are read by programs that nobody here wrote, and say what git's formats say of the same
# traces: as many regions, the same nanoseconds for each label, the same losses.  The traces are of programs with
# several threads and processes; one lost events, one was killed.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need python3 command -v python3
need jq command -v jq
need protoc command -v protoc
need babeltrace2 command -v babeltrace2
need sqlite3 command -v sqlite3
expand=$out/t2expand
export XDG_RUNTIME_DIR=$tmp
. "$top/tests/cli/exports.sh"
make_traces || exit 1

for trace in $traces; do
	for format in chrome firefox folded pprof ctf csv otlp otlp_proto; do
		compare=(python3 "$top/tests/cli/exports.py" "$format" "$expand" "$tmp/$trace")
		quiet "$format: $trace" "${compare[@]}"
	done
	rm -rf ctf ctf.tar.files
	mkdir ctf.tar.files
	"$expand" --format=ctf "$trace" 2>/dev/null | tar -xC ctf.tar.files
	"$expand" --format=ctf --output=ctf/ "$trace" 2>/dev/null
	quiet "ctf: $trace: a directory has the files of the archive" diff -r ctf ctf.tar.files
	check "ctf: $trace: babeltrace2 reads it where it is" [ "$(babeltrace2 ctf 2>/dev/null | wc -l)" -gt 100 ]
	"$expand" --format=chrome "$trace" 2>/dev/null >chrome.json
	"$expand" --format=perf "$trace" 2>/dev/null >perf.text
	jq -e --argjson n "$(grep -c '| region_leave ' perf.text)" '
		def ending: .args.end // "";
		[.traceEvents[] | select(
			(.ph == "X" and .cat != "trace2.thread" and .name != "events lost" and
			 (ending | test("^(missing|the thread|none)") | not)) or
			(.ph == "i" and (ending | test("^left here"))))
		] | length == $n' chrome.json >/dev/null
	check "chrome: $trace: as many slices by jq as perf has leaves" [ $? -eq 0 ]
done

# Wherever a text can be there is one, and none the next time: no reader takes it for there.
make_texts || exit 1
for format in chrome ctf csv; do
	quiet "$format: texts and empty ones" python3 "$top/tests/cli/exports.py" "$format" "$expand" "$tmp/texts.tlg"
done

"$expand" --format=csv -o rows.csv texts.tlg
"$expand" --format=ndjson -o rows.ndjson texts.tlg
check "ndjson: jq has times to the last digit" cmp -s <(jq -r .time rows.ndjson) \
	<(sqlite3 :memory: '.import --csv rows.csv e' 'select time from e')
check "csv: a database has numbers" [ "$(sqlite3 :memory: '.import --csv rows.csv e' "select sum(value) from e where label = 'number'")" = \
	"$(jq -s '[.[] | select(.label == "number").value] | add' rows.ndjson)" ]

"$expand" --summary=csv -o summary.csv texts.tlg
quiet "the summary as csv: UTF-8 without formulas, and the labels are those of json" python3 -c '
import csv, json, subprocess, sys
rows = list(csv.reader(open("summary.csv", encoding="utf-8", newline="")))[1:]
formulas = [cell for row in rows for cell in row[2:5] if cell.startswith(tuple("=+-@\t\r\n"))]
wanted = json.loads(subprocess.run([sys.argv[1], "--summary=json", "texts.tlg"], stdout=subprocess.PIPE, check=True).stdout)
labels = [[row[3].removeprefix("\x27"), row[4].removeprefix("\x27")] for row in rows]
assert not formulas and labels == [[row["category"], row["label"]] for row in wanted["rows"]], (formulas, labels)
' "$expand"

# A forked child has said no name: it has its parent's.
mkdir forks
TRACE2_RAW=$tmp/forks ./load 1 10 forks
"$expand" --format=chrome -o chrome.json forks
"$expand" --format=firefox -o firefox.json forks
"$expand" --format=otlp -o otlp.json forks
quiet "chrome: forks" jq -e '[.traceEvents[] | select(.name == "process_name") | "\(.args.name)"] | unique ==
	["load", "load [fork]"]' chrome.json
quiet "chrome: forks: what it leaves first has a process, too" jq -e '[.traceEvents[] | select(.name == "whole") |
	.pid, .tid] | length == 4 and all(tostring | contains(".") | not)' chrome.json
quiet "firefox: forks" jq -e '[.threads[].processName] | unique == ["load", "load [fork]"]' firefox.json
quiet "otlp: forks" jq -es '[.[].resourceSpans[].resource.attributes[]] |
	([.[] | select(.key == "service.name").value.stringValue] | unique == ["load"]) and
	([.[] | select(.key == "process.pid").value.intValue] | unique | length == 2)' otlp.json

# More threads than are followed at once: each has its slices and spans, once; those that make room are counted.
if [ -x "$out/tests/grow" ]; then
	"$out/tests/grow" processes 20000 many.tlg
	expect "chrome: many processes" 0 'threads: 3616 were idle for long' "$expand" --format=chrome -o chrome.json many.tlg
	quiet "chrome: many processes" jq -e '[.traceEvents[] | select(.ph == "X")] |
		length == 40000 and (group_by(.cat == "trace2.thread") | map(length) == [20000, 20000])' chrome.json
	expect "otlp: many processes" 0 'threads: 3616 were idle for long' "$expand" --format=otlp -o otlp.json many.tlg
	quiet "otlp: many processes" jq -es '[.[].resourceSpans[].scopeSpans[].spans[].spanId] |
		length == 40000 and (unique | length == 40000)' otlp.json
fi

expect "ctf: not where something is" 1 'ctf: Directory not empty' "$expand" --format=ctf -o ctf index.tlg
expect "ctf: not below what is not there" 1 'none/ctf/: No such file' "$expand" --format=ctf -o none/ctf/ index.tlg
expect "ctf: a name is that of a directory" 0 "" "$expand" --format=ctf -o named index.tlg
"$expand" --format=ctf -o named.tar index.tlg
rm -rf ctf.tar.files
mkdir ctf.tar.files
quiet "ctf: .tar is an archive" tar -xf named.tar -C ctf.tar.files
quiet "ctf: a name is that of a directory, with the files of the archive" diff -r named ctf.tar.files
quiet "ctf: a pipe gets an archive" cmp named.tar <("$expand" --format=ctf -o /dev/stdout index.tlg | cat)
: >file
expect "ctf: not over a file" 1 'file: Not a directory' "$expand" --format=ctf -o file index.tlg
expect "another format: no directory" 2 'needs --recover' "$expand" --format=csv -o ctf index.tlg
mkdir few
expect "ctf: no room for all of it" 1 'few: File too large' bash -c "trap '' XFSZ; ulimit -f 4
	'$expand' --format=ctf -o few index.tlg"
check "ctf: no room for all of it: what is there is no trace" [ ! -e few/metadata ]
total
