#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 report: the functions of samples.  A script computes self, total and callers again from the folded stacks, of
# profiles of a program of several threads, and of each thread alone; then how it looks, and what it refuses.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC NO_COLOR=1 T2_PAGER=
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need "the profiler" [ -e "$out/libtrace2-prof.so" ]
need python3 command -v python3
cd "$tmp" || exit 1
export XDG_RUNTIME_DIR=$tmp/run
mkdir -m 700 run

cat >work.c <<'END'
#include <pthread.h>
#include <stdlib.h>

volatile double result;
void *kept[400];

__attribute__((noinline)) void inner(int n) { for (int i = 0; i < n; i++) result += i; }
__attribute__((noinline)) void often(void) { inner(600000); result++; }
__attribute__((noinline)) void rarely(void) { inner(200000); result++; }
__attribute__((noinline)) void *deep(int n) { void *p = n ? deep(n - 1) : malloc(20000); result++; return p; }
static void *run(void *unused) { for (int i = 0; i < 60; i++) { often(); rarely(); } return unused; }

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	for (int i = 0; i < 400; i++)
		kept[i] = deep(i % 5);
	run(NULL);
	return pthread_join(thread, NULL);
}
END
"${CC:-cc}" -O1 -g -pthread work.c -o work || exit 1
"$out/t2" record --cpu=250 --heap=4k -o work.tlg ./work 2>record.log || { cat record.log; exit 1; }

cat >again.py <<'END'
"""usage: again.py FOLDED REPORT.json PROFILE: what is not in the report as folded stacks have it"""
import collections, json, sys

self, total, calls = collections.Counter(), collections.Counter(), collections.Counter()
for line in open(sys.argv[1]):
    stack, value = line.rstrip("\n").rsplit(" ", 1)
    names = stack.split(";")
    names = ["[%s]" % name.split("+0x")[0] if "+0x" in name else name for name in names]
    self[names[-1]] += int(value)
    for name in set(names):
        total[name] += int(value)
    for call in set(zip(names, names[1:])):
        calls[call] += int(value)
found = [profile for profile in json.load(open(sys.argv[2]))["profiles"] if profile["profile"] == sys.argv[3]]
assert len(found) == 1, found
report = found[0]
# Functions of one name in several files are one in folded stacks
said, whole, callers = collections.Counter(), collections.Counter(), collections.Counter()
for row in report["functions"]:
    said[row["function"]] += row["self"]
    whole[row["function"]] += row["total"]
    for caller in row["callers"]:
        callers[caller["function"], row["function"]] += caller["value"]
files = collections.Counter(row["function"] for row in report["functions"])
assert report["total"] == sum(self.values()) > 0, (report["total"], sum(self.values()))
for name in total:
    if files[name] == 1 and (said[name], whole[name]) != (self[name], total[name]):
        print(name, said[name], whole[name], "instead of", self[name], total[name])
for caller, callee in calls:
    if files[caller] == files[callee] == 1 and callers[caller, callee] != calls[caller, callee]:
        print(caller, "->", callee, callers[caller, callee], "instead of", calls[caller, callee])
for name in set(said) - set(total):
    print(name, "is in no stack")
END
"$out/t2" report --as=json --callers work.tlg >work.json
for profile in cpu heap; do
	"$out/t2" export --format=folded --profile=$profile -o $profile.folded work.tlg
	none "$profile: as folded stacks have it" "$(python3 again.py $profile.folded work.json $profile 2>&1)"
done
"$out/t2" report --profile=cpu --as=json --callers work.tlg >cpu.json
none "one profile, as among all" "$(python3 again.py cpu.folded cpu.json cpu 2>&1)"
none "CSV has the rows of JSON" "$(python3 - 2>&1 <(exec "$out/t2" report --as=csv work.tlg) <<'END'
import csv, json, sys
rows = [(r["profile"], r["function"], r["file"], int(r["self"]), int(r["total"])) for r in csv.DictReader(open(sys.argv[1]))]
want = [(p["profile"], f["function"], f["file"], f["self"], f["total"])
        for p in json.load(open("work.json"))["profiles"] for f in p["functions"]]
if rows != want:
    print(rows[:3], want[:3])
END
)"

# ---- how it looks
"$out/t2" report --profile=cpu work.tlg >table
check "the title" grep -qE '^cpu: [0-9.]+ m?s in [0-9]+ samples$' table
check "the largest first, with where it is" [ -n "$(sed -n '3s/  inner  (work\.c:7)$/&/p' table | grep 'work')" ]
check "what has no self is blank there" grep -qE '^ {20} +[0-9.]+ +m?s +[0-9.]+%  often  \(work\.c:8\)$' table
"$out/t2" report --profile=cpu --callers work.tlg >callers
check "callers, the largest first" grep -qE '<- often ' <(grep -A 1 '  inner  (work' callers)
check "and the next" grep -qE '<- rarely ' <(grep -A 2 '  inner  (work' callers)
"$out/t2" report --profile=heap --tree work.tlg >tree
check "the tree: below each other" [ "$(grep -cE '^ +[0-9.]+ +[KM]iB.* deep  \(work\.c' tree)" -ge 5 ]
check "bytes have units" grep -qE '^heap: [0-9.]+ MiB in [0-9]+ samples$' tree
"$out/t2" report --profile=cpu --top=1 work.tlg >one
check "--top" [ "$(grep -c '(work' one) $(grep -c 'functions more: --top=N$' one)" = "1 1" ]
"$out/t2" report --as=csv --top=1 work.tlg >one
check "--top of each profile, of CSV" [ "$(wc -l <one)" -eq 3 ]

# ---- apart
"$out/t2" report --profile=cpu --by=thread --as=json work.tlg >threads.json
none "--by=thread: each alone, together all" "$(python3 - 2>&1 <<'END'
import json
whole = json.load(open("cpu.json"))["profiles"][0]
threads = json.load(open("threads.json"))["profiles"]
names = [t["thread"] for t in threads]
if len(names) != 2 or "main" not in names:
    print(names)
for row in whole["functions"]:
    parts = [r for t in threads for r in t["functions"] if (r["function"], r["file"]) == (row["function"], row["file"])]
    if sum(r["self"] for r in parts) != row["self"] or sum(r["total"] for r in parts) != row["total"]:
        print(row["function"], row["total"], [r["total"] for r in parts])
END
)"
check "--by=process names it" grep -qE '^cpu, pid [0-9]+: ' <("$out/t2" report --profile=cpu --by=process work.tlg)
check "--by=region without regions" grep -qE '^cpu, region none: ' <("$out/t2" report --profile=cpu --by=region work.tlg)

# Each program alone has what it has in a trace of its own; a program sets labels, each of which has its own function.
cat >kinds.c <<'END'
#include <trace2_prof.h>
volatile double result;
__attribute__((noinline)) void red(void) { for (int i = 0; i < 40000000; i++) result += i; }
__attribute__((noinline)) void blue(void) { for (int i = 0; i < 40000000; i++) result -= i; }
static void set(const char *kind)
{
	const char *pairs[] = { "kind", kind, NULL };
	const struct trace2_labels *labels;

	if (!trace2_prof_labels_with(NULL, pairs, &labels))
		trace2_prof_set_labels(labels);
}
int main(void)
{
	set("warm");
	red();
	set("cold");
	blue();
	trace2_prof_set_labels(0);
	return 0;
}
END
"${CC:-cc}" -O1 -g -I"$top/runtime" kinds.c -o kinds -L"$out" -Wl,-rpath,"$out" -ltrace2-prof -ltrace2 || exit 1
"$out/t2" record --cpu=250 -o both.tlg sh -c './work; ./kinds; exit 0' 2>record.log || cat record.log
# of SECTION: the functions of the table that begins with this, the most expensive first
of()
{
	awk -v head="$1" 'index($0, head) == 1 { is = 1; next } /^$/ { is = 0 } is && /\(/ { sub(/  \(.*/, ""); print $NF }' both |
		xargs
}
"$out/t2" report --profile=cpu --by=program both.tlg >both
check "--by=program: one" grep -qw inner <(of "cpu, program work: ")
check "--by=program: another one" [ "$(of "cpu, program kinds: " | tr ' ' '\n' | grep -cE '^(red|blue)$')" -eq 2 ]
none "--by=program: apart" "$(of "cpu, program kinds: " | grep -w inner)"
"$out/t2" report --profile=cpu --by=label:kind both.tlg >both
check "--by=label: the functions of each" \
	[ "$(of "cpu, kind warm: " | grep -ow 'red\|blue') $(of "cpu, kind cold: " | grep -ow 'red\|blue')" = "red blue" ]
check "--by=label: the others" grep -qw inner <(of "cpu, kind none: ")

# ---- nothing there, and wrong options
printf '%s\n' 'start m.c 1 p' 'exit m.c 20 0' >none.api
GIT_TRACE2_RAW=$tmp/none.tlg "$out/tests/replay" none.api
check "no samples: nothing" [ -z "$("$out/t2" report none.tlg 2>said)" ]
check "which is said" grep -q 'there are none to show' said
check "JSON of nothing" [ "$("$out/t2" report --as=json none.tlg 2>/dev/null)" = '{"profiles":[]}' ]
check "samples that filters leave out: nothing" [ -z "$("$out/t2" report --label=nosuch work.tlg 2>said)" ]
check "one line says why" [ "$(cat said)" = "t2 report: --label=nosuch: nothing in the trace matches" ]
"$out/t2" report --by=message work.tlg >/dev/null 2>said
check "--by=message is refused" [ $? -eq 2 -a "$(grep -c 'thread, region or label:KEY, not: message' said)" -eq 1 ]
"$out/t2" summary --by=region work.tlg >/dev/null 2>said
check "--by=region of a summary is refused" [ $? -eq 2 -a "$(grep -c 'process, thread, message or data:CATEGORY/KEY, not: region' said)" -eq 1 ]
for by in label: program:x; do
	"$out/t2" report --by=$by work.tlg >/dev/null 2>said
	check "--by=$by is refused" [ $? -eq 2 ]
done
"$out/t2" show --tree work.tlg >/dev/null 2>said
check "--tree of another format is refused" [ $? -eq 2 ]
total
