#!/bin/bash
# SPDX-License-Identifier: MIT
# The filters, on a real program of several threads: what t2expand shows with them is compared with what a judge, who
# has the whole text without filters before him, selects.  And what is refused.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need "example" [ -x "$out/examples/t2index" ]
expand=$out/t2expand
cd "$tmp" || exit 1

TRACE2_RAW=$tmp/a.tlg "$out/examples/t2index" -j 4 "$top/runtime" >index.out 2>index.err
check "a trace of t2index" [ -s a.tlg ]

cat >judge.py <<'END'
import fnmatch, re, subprocess, sys

expand, trace = sys.argv[1:3]
NESTS = "region_enter", "region_leave", "data", "data_json", "step"
passed = failed = 0


class Line:
    def __init__(self, text):
        self.columns = [part.strip() for part in text.split("|", 9)]
        clock, _ = self.columns[0].split(" ", 1)
        h, m, s = clock.split(":")
        self.ns = (int(h) * 60 + int(m)) * 60 * 10**9 + int(s.replace(".", ""))
        self.thread, self.kind, self.category = self.columns[2], self.columns[3], self.columns[7]
        self.head, payload = split_payload(text)
        self.payload = payload.lstrip(".")
        self.open = 1 + (len(payload) - len(self.payload)) // 2
        words = self.payload.split(":", 1)
        self.label = words[1].split(" ")[0] if words[0] in ("label", "name") else words[0]
        if self.kind not in NESTS and "timer" not in self.kind and "counter" not in self.kind:
            self.label = self.category = None
        self.leave = None

    def shown(self, nesting, is_repeated=False):
        payload = self.payload.split(" ")[0] if is_repeated else self.payload
        return self.head + " | " + "." * (2 * nesting) + payload


def split_payload(text):
    at = -1
    for _ in range(8):
        at = text.index(" | ", at + 1)
    return text[:at], text[at + 3:]


def run(*options):
    result = subprocess.run([expand, "--format=perf", "--ns", *options, trace], capture_output=True, text=True)
    return result.stdout.splitlines()


lines = [Line(text) for text in run()]
for thread in {line.thread for line in lines}:
    stack = []
    for line in lines:
        if line.thread != thread:
            continue
        if line.kind == "region_leave":
            stack[-1].leave = line
            line.enter = stack.pop()
        line.around = stack[:]
        if line.kind == "region_enter":
            stack.append(line)


def matches(patterns, text):
    if not patterns:
        return True
    parts = patterns.split(",")
    globs = [part for part in parts if part[0] != "!"]
    if text is None:
        return not globs
    return (not globs or any(fnmatch.fnmatchcase(text, part) for part in globs)) and \
        not any(fnmatch.fnmatchcase(text, part[1:]) for part in parts if part[0] == "!")


def expected(thread="", category="", label="", event="", since=0, until=1 << 62, least=0, depth=0):
    end = lines[-1].ns

    def long_enough(enter):
        last = enter.leave.ns if enter.leave else end
        return not least or last - enter.ns >= least or not enter.leave

    def wanted(enter):
        return matches(thread, enter.thread) and matches(category, enter.category) and \
            matches(label, enter.label) and long_enough(enter) and not (depth and enter.open > depth) and \
            enter.ns < until and not (enter.leave and enter.leave.ns < since)

    def selected(line):
        if not matches(thread, line.thread) or not matches(event, line.kind) or not since <= line.ns < until:
            return False
        if line.kind in ("region_enter", "region_leave"):
            return wanted(line if line.kind == "region_enter" else line.enter)
        if line.kind in NESTS and (depth and line.open > depth or line.around and not long_enough(line.around[-1])):
            return False
        return matches(category, line.category) and matches(label, line.label)

    def nesting(line):
        return sum(wanted(region) and matches(event, "region_enter") for region in line.around)

    out = []
    is_inside = not since
    for line in lines:
        if not is_inside and line.ns >= since:
            is_inside = True
            past = [enter for enter in lines if enter.kind == "region_enter" and enter.ns < since and wanted(enter) and
                    not (enter.leave and lines.index(enter.leave) < lines.index(line)) and matches(event, "region_enter")]
            out += [enter.shown(nesting(enter), True) for enter in sorted(past, key=lambda enter: enter.ns)]
        if selected(line):
            out.append(line.shown(nesting(line)))
    return out


def verdict(name, ok, *details):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAIL", name, *details)


def clock(ns):
    return f"{ns // 3600 // 10**9:02}:{ns // 60 // 10**9 % 60:02}:{ns // 10**9 % 60:02}.{ns % 10**9:09}"


def compare(options, **asked):
    got, want = run(*options), expected(**asked)
    at = next((i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]), min(len(got), len(want)))
    verdict(" ".join(options), got == want and (got or "none" in options[0]), f"line {at + 1} of {len(got)}, {len(want)}",
            got[at:at + 1], want[at:at + 1])


first, last = lines[0].ns, lines[-1].ns
# not by their lines: a step reads no clock, its line has the time of what was before it in its thread, long ago perhaps
times = sorted({line.ns for line in lines})
middle = times[len(times) // 2]
later = times[len(times) * 3 // 4]
durations = sorted(line.leave.ns - line.ns for line in lines if line.kind == "region_enter" and line.leave)
least = durations[len(durations) // 2]
longest = durations[-3]

compare([])
compare(["--thread=main"], thread="main")
compare(["--thread=th*:reader,!th02*"], thread="th*:reader,!th02*")
compare(["--thread=th01*", "--thread=th03*"], thread="th01*,th03*")
compare(["--category=reader"], category="reader")
compare(["--category=!reader"], category="!reader")
compare(["--category=none"], category="none")
compare(["--label=file,directory"], label="file,directory")
compare(["--label=!file"], label="!file")
compare(["--event=region_*"], event="region_*")
compare(["--event=region_leave"], event="region_leave")
compare(["--event=!step,!data"], event="!step,!data")
compare(["--max-depth=1"], depth=1)
compare(["--max-depth=2", "--label=!walk"], depth=2, label="!walk")
compare([f"--min-duration={least}ns"], least=least)
compare([f"--min-duration={longest}ns"], least=longest)
compare([f"--min-duration={least}ns", "--category=reader"], least=least, category="reader")
compare([f"--since=+{middle - first}ns"], since=middle)
compare([f"--since=-{last - middle}ns"], since=middle)
compare([f"--since={clock(middle)}"], since=middle)
compare([f"--until={clock(middle)}"], until=middle)
compare([f"--since={clock(middle)}", f"--until=-{last - later}ns"], since=middle, until=later)
compare([f"--since={clock(middle)}", "--label=file"], since=middle, label="file")
compare([f"--since={clock(middle)}", f"--min-duration={least}ns", "--max-depth=2"], since=middle, least=least, depth=2)

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
END
python3 judge.py "$expand" a.tlg >judge.out
sed '$d' judge.out
passed=$((passed + $(sed -n '$s/ passed.*//p' judge.out)))
failed=$((failed + $(sed -n '$s/.*, \(.*\) failed/\1/p' judge.out)))

# ---- processes, other formats -----------------------------------------------------------------------
TRACE2_RAW=$tmp/b.tlg "$out/examples/t2index" -j 2 "$top/format" >index.out 2>index.err
pid=$("$expand" --format=xml a.tlg | sed -n 's/.*<PROCINFO .*pid="\([0-9]*\)".*sid.*/\1/p' | head -n 1)
sid=$("$expand" --format=event a.tlg | sed -n '1s/.*"sid":"\([^"]*\)".*/\1/p')
"$expand" --format=event --nesting=0 a.tlg >alone
"$expand" --format=event --nesting=0 "--sid=$sid" a.tlg b.tlg >selected
check "--sid selects a process" cmp -s alone selected
"$expand" --format=event --nesting=0 "--sid=${sid%%-*}*-P*${sid##*-P}" a.tlg b.tlg >selected
check "--sid is a pattern" cmp -s alone selected
if [ -n "$pid" ]; then
	"$expand" --format=event --nesting=0 "--pid=$pid" a.tlg b.tlg >selected
	check "--pid selects a process" cmp -s alone selected
	"$expand" --format=event --nesting=0 "--pid=!$pid" a.tlg b.tlg >selected
	"$expand" --format=event --nesting=0 b.tlg >alone
	check "--pid=! excludes it" cmp -s alone selected
fi
for format in normal perf event tree; do
	"$expand" --format=$format --category=reader a.tlg >plain
	"$expand" --format=$format --category=reader --jobs=3 a.tlg >jobs
	check "$format: the same with --jobs" cmp -s plain jobs
done

# ---- seeking ----------------------------------------------------------------------------------------
# A file is read from its last cycle before --since on, a pipe from its beginning: both show the same.  But the calendar and
# the raw clock drift apart, so each cycle pairs them anew, and moments before it are not the same nanosecond by either
# pair: that of the start of the process, from which the 6th column counts, and those of regions that are open.
TRACE2_RAW_CYCLE=64k TRACE2_RAW=$tmp/c.tlg "$out/examples/t2index" -j 4 "$top" >index.out 2>index.err
"$expand" --format=perf --ns c.tlg | cut -d' ' -f1 | sort >times
for percent in 5 50 95 99; do
	since=$(sed -n "$(($(wc -l <times) * percent / 100))p" times)
	"$expand" --format=perf --ns --since="$since" c.tlg 2>errors | awk -v since="$since" '$1 >= since' >sought
	none "nothing is missing of a file that is read from the middle" "$(cat errors)"
	cat c.tlg | "$expand" --format=perf --ns --since="$since" - | awk -v since="$since" '$1 >= since' >read
	check "from $percent % on there are events" [ -s read ]
	# the time since a region was entered is the 7th column
	check "from $percent % on: as many lines, the same but for times since then" \
		cmp -s <(cut -d'|' -f1-5,8- sought) <(cut -d'|' -f1-5,8- read)
	"$expand" --format=perf --ns --since="$since" --jobs=3 c.tlg | awk -v since="$since" '$1 >= since' >jobs
	check "from $percent % on: the same with --jobs" cmp -s sought jobs
done
# The second half, by time: what is in front of the end may be older than the end by what the writer was late
head -c -1000 c.tlg >open.tlg
"$expand" --format=csv open.tlg 2>errors | cut -d, -f1 | sed -n '2p; $p' >times
"$expand" --since="-$((($(tail -n 1 times) - $(head -n 1 times)) / 2))ns" open.tlg >sought 2>errors
check "the end of a file that was never closed" [ -s sought ]
check "and not all of it" [ "$(wc -l <sought)" -lt "$("$expand" open.tlg 2>errors | wc -l)" ]

# ---- several processes in one file --------------------------------------------------------------------
# The file has the process that ran last in front; times count from the earliest event all the same.
for lz4 in 1 0; do
	for name in early late; do
		TRACE2_RAW_LZ4=$lz4 TRACE2_RAW=$tmp/$name.$lz4 "$out/examples/t2index" -j 2 "$top/runtime" >index.out 2>index.err
	done
	cat late.$lz4 early.$lz4 >both.$lz4
	"$expand" --format=csv both.$lz4 | sed 1d >rows
	cut -d, -f1 rows | sort >times
	first=$(head -n 1 times) last=$(tail -n 1 times) n=$(wc -l <rows)
	middle=$(sed -n "$((n / 2))p" times)
	check "LZ4=$lz4: there are two processes" [ "$(cut -d, -f2 rows | sort -u | wc -l)" -eq 2 ]
	check "LZ4=$lz4: --since=+0s is all" cmp -s rows <("$expand" --format=csv --since=+0s both.$lz4 | sed 1d)
	"$expand" --summary --since=+0s both.$lz4 >since
	check "LZ4=$lz4: of the summary, too" cmp -s since <("$expand" --summary both.$lz4)
	check "LZ4=$lz4: --diff, too" "$expand" --diff --since=+0s both.$lz4 both.$lz4 >diff.out
	check "LZ4=$lz4: --since=+t with --jobs" \
		cmp -s <("$expand" --format=csv --since=+1ms both.$lz4) <("$expand" --format=csv --since=+1ms --jobs=3 both.$lz4)
	awk -F, -v until="$middle" '$1 < until' rows >expected
	for option in "+$((middle - first))ns" "-$((last - middle))ns" "$middle" "${middle%?????????}.${middle: -9}"; do
		check "LZ4=$lz4: --until=$option" cmp -s expected <("$expand" --format=csv --until="$option" both.$lz4 | sed 1d)
	done
	# regions that are open then are shown again, with times of their own
	awk -F, -v since="$middle" '$1 >= since' rows >expected
	for option in "+$((middle - first))ns" "-$((last - middle))ns" "$middle" "${middle%?????????}.${middle: -9}"; do
		"$expand" --format=csv --since="$option" both.$lz4 2>errors | sed 1d | awk -F, -v since="$middle" '$1 >= since' >shown
		check "LZ4=$lz4: --since=$option" cmp -s <(cut -d, -f1-8 expected) <(cut -d, -f1-8 shown)
	done
	mkdir dir$lz4
	cp both.$lz4 dir$lz4/both.tlg
	cp a.tlg dir$lz4
	"$expand" --format=csv --since=+0s dir$lz4 >since
	check "LZ4=$lz4: a directory" cmp -s since <("$expand" --format=csv dir$lz4)
	check "LZ4=$lz4: which begins with the earliest" [ "$(cut -d, -f1 since | sed 1d | sort | head -n 1)" = "$(sed -n '2s/,.*//p' <("$expand" --format=csv a.tlg))" ]
	"$expand" --format=csv --since=+0s <(cat both.$lz4) >piped 2>errors
	check "LZ4=$lz4: of a pipe it is said where +t counts from" grep -q \
		"^t2expand: --since and --until count from the event that came first, which is [0-9]* ns behind the earliest$" errors
done
# a step has no time of its own: it shows its thread's last one, which another thread may have passed
sort -c <("$expand" --format=csv both.1 | sed 1d | awk -F, '$6 != "step" { print $1 }') 2>errors
none "compressed, it is in the order of time" "$(cat errors)"
for format in csv ndjson; do
	since=$("$expand" --format=$format a.tlg | sed -nE '200s/^(\{"time":")?([0-9.]+)"?,.*/\2/p')
	check "$format: --since takes a time as it is printed: $since" "$expand" --since="$since" --until="$since" -o text a.tlg
done

# ---- what is refused --------------------------------------------------------------------------------
# refuses STATUS OPTION...
refuses()
{
	"$expand" "${@:2}" >refused.out 2>errors </dev/null
	check "$*: exit status" [ $? -eq "$1" ]
	check "$*: one line says why" [ "$(wc -l <errors)" -eq 1 ]
}
for option in --since= --since=yesterday --since=25:00 --until=+ --until=12 --since=12345678 --since=179542577928 --since=2026-13-01 --min-duration=5parsecs \
	--max-depth=0 --max-depth=x --thread= --label=a,,b --event=!; do
	refuses 2 "$option" a.tlg
done
refuses 2 --format=xml --thread=main a.tlg
refuses 2 --format=raw --since=+1s a.tlg
refuses 2 --live=1 --since=-1s
refuses 1 --since=-1s <(cat a.tlg)
# ---- patterns that match nothing --------------------------------------------------------------------
for option in --event --category --label --thread --pid --sid; do
	for format in perf chrome summary; do
		"$expand" --format=$format $option=nosuch a.tlg >shown 2>errors
		check "$format $option=nosuch: is no error" [ $? -eq 0 ]
		check "$format $option=nosuch: one line says so" \
			[ "$(cat errors)" = "t2expand: $option=nosuch: nothing in the trace matches" ]
	done
done
"$expand" --label=merge --category=index,nosuch --event='region_enter,!nosuch' --jobs=3 a.tlg >shown 2>errors
check "of several patterns only the one that matches nothing" \
	[ "$(cat errors)" = "t2expand: --category=nosuch: nothing in the trace matches" ]
check "of several patterns the others select" [ -s shown ]
for format in folded pprof; do
	"$expand" --format=$format --profile=nosuch a.tlg >shown 2>errors
	check "$format --profile=nosuch: is no error" [ $? -eq 0 ]
	check "$format --profile=nosuch: one line says so" \
		[ "$(cat errors)" = "t2expand: nosuch: there are no samples of this profile to show" ]
done
total
