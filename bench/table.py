#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a table of the measurements that the benchmarks printed.

usage: table.py [--results] [--renew FILE] DIRECTORY
       table.py --undecided DIRECTORY

Reads DIRECTORY/BENCHMARK.measurements: one a line, NAME, THREADS, UNIT and the values of all rounds, with tabs between
(bench.h); lines without tabs are remarks.  BENCHMARK.2.measurements and so on are further passes of it.  Prints, as
Markdown, the goals that are reached or missed, and everything that was measured.
--results: with the head and the machine, as in RESULTS.md; then it is an error if a goal's measurement is missing.
--renew: and put the sections of benchmarks that have their goals themselves (APART) into FILE, a RESULTS.md.
--undecided: only the names of the benchmarks of which another pass may decide about a goal.

verdict.py says what measurements mean for a goal.
"""
import argparse
import contextlib
import io
import os
import pathlib
import platform
import re
import statistics
import sys

from verdict import Goal, Measurement, best, cpuinfo, judge, most_of

BASELINE = "baseline: clock + 24 bytes stored"

FORMATS = ("normal", "event", "tree", "html", "chrome", "folded", "pprof", "ctf", "csv", "ndjson", "summary", "otlp",
           "otlp_proto", "firefox", "xml", "raw")
FORMAT_GOALS = {"chrome": 1 / 3, "summary": 1.5}

PROGRAMS = (("sqlite", 1), ("zstd", 1), ("zstd", 2), ("server", 1))

PROFILED = (("xz", "off", None), ("xz", "cpu=100hz", 0.005), ("xz", "cpu=1000hz", 0.03), ("xz", "gperftools,100", None),
            ("xz", "gperftools,1000", None), ("sqlite3", "off", None), ("sqlite3", "heap=512k", None),
            ("sqlite3", "cpu=100hz,heap=512k,block=10us,mutex=10", None))
TICKS = (("cpu", (0.5, 3)), ("cpu,unwind=fp", (None, None)), ("gperftools,100", (None, None)))
# A call: mode, what it is compared with, ns that it may add
CALLS = (("malloc", "free() and malloc()", (
              ("off", "none", None), ("heap=1g", "none", 5), ("heap=512k", "none", None),
              ("tcmalloc,512k", "tcmalloc", None), ("tcmalloc,all", "tcmalloc", None),
              ("jemalloc,512k", "jemalloc", None), ("heaptrack", "none", None), ("massif", "none", None))),
         ("lock", "locking and unlocking", (
              ("off", "none", None), ("block=10us,mutex=10", "none", 3), ("mutrace", "none", None),
              ("drd", "none", None), ("helgrind", "none", None))))
# Profiles of which the truth is known: mode, of what, the greatest error
KNOWN = (*(("hogs", mode, "share", most) for mode, most in (
              ("cpu=100hz", 3), ("cpu=1000hz", 3), ("gperftools,100", None), ("gperftools,1000", None))),
         *(("hogs", mode, "time", None) for mode in ("cpu=100hz", "cpu=1000hz", "gperftools,100", "gperftools,1000")),
         *(("sites", mode, "allocated", most) for mode, most in (
              ("heap=512k", 5), ("jemalloc,512k", None), ("heap=16k", 5), ("jemalloc,16k", None),
              ("tcmalloc,all", None), ("heaptrack", None))),
         *(("sites", mode, "in use", most) for mode, most in (
              ("heap=512k", None), ("jemalloc,512k", None), ("heap=16k", 5), ("jemalloc,16k", None), ("massif", None))))
SIZED = (("hogs", ("cpu=100hz", "cpu=100hz, as pprof", "gperftools,100", "cpu=1000hz", "cpu=1000hz, as pprof",
                   "gperftools,1000")),
         ("sites", ("heap=512k", "heap=512k, as pprof", "jemalloc,512k", "heap=16k", "heap=16k, as pprof",
                    "jemalloc,16k", "tcmalloc,all", "heaptrack", "massif")))
KNOWN_AS = {"share": "one of two equal hogs, from its true share, in percentage points",
            "time": "CPU time found, from what was used, in %",
            "allocated": "three known sites, the worst, bytes allocated, error in %",
            "in use": "the same, bytes in use, error in %"}


def goals_of_program(program, threads):
    """What an event costs in the real work of bench_PROGRAM, on its thread and in the drain"""
    name = f"{program}, {threads} threads" if threads > 1 else program
    without = {mode: f"{program}, {mode}: without events" for mode in ("on", "block", "overwrite", "live", "lttng")}
    yield Goal(f"{name}: an event on its thread, against a loop of such events", "programs",
               f"{program}, on: with events", threads, minus=without["on"], baseline=f"{program}, on: loop",
               at_most=1.6)
    for mode in ("on", "block", "overwrite", "live"):
        yield Goal(f"{name}, {mode}: an event on its thread", "programs", f"{program}, {mode}: with events", threads,
                   minus=without[mode], baseline=f"{program}, lttng: with events", baseline_minus=without["lttng"],
                   at_most=1 / 2)
    if threads > 1:
        return   # one process is both
    yield Goal(f"{program}: an event in the drain, in ns", "programs", f"{program}, on: drain", at_most=15)
    for mode in ("on", "block"):
        yield Goal(f"{program}, {mode}: lost, in %", "programs", f"{program}, {mode}: lost", at_most=0)


def goals_of_profiles():
    """What libtrace2-prof costs and how right it is, beside others"""
    for work, mode, most in PROFILED:
        yield Goal(f"added to {work}: {mode}", "prof", f"{work}, {mode}", minus=f"{work}, none",
                   baseline=f"{work}, none", at_most=most)
    for mode, limits in TICKS:
        yield Goal(f"a tick, its signal included: {mode}", "prof", f"tick, {mode}", baseline="tick, none")
        for hz, most in zip((100, 1000), limits):
            yield Goal(f"{hz} of these a second, in % of a processor", "prof", f"tick, {mode}, {hz} a second",
                       at_most=most)
    for call, what, modes in CALLS:
        for mode, without, most in modes:
            yield Goal(f"added to {what}: {mode}", "prof", f"{call}, {mode}", minus=f"{call}, {without}", at_most=most)
    for work, mode, what, most in KNOWN:
        yield Goal(f"{KNOWN_AS[what]}: {mode}", "prof", f"{work}, {mode}: {what}", at_most=most)
    for work, modes in SIZED:
        for mode in modes:
            yield Goal(f"size of the profile of these {work}: {mode}", "prof", f"{work}, {mode}: size")


# Benchmarks whose goals are in a section of their own, which can be made anew alone
APART = {"prof": list(goals_of_profiles())}

GOALS = [
    Goal("region enter or leave, inline macro", "emit", "region, inline", baseline=BASELINE, at_most=1.08,
         intel=1.10),
    Goal("the same, two threads at once", "emit", "region, inline", 2, baseline=BASELINE, at_most=1.10),
    Goal("one thread, in bursts of 10,000 with a flush each", "emit", "region, inline, bursts of 10,000",
         baseline=BASELINE, at_most=1.08, intel=1.10),
    Goal("the same, library linked statically", "emit_static", "region, inline", baseline=BASELINE, at_most=1.08,
         intel=1.10),
    Goal("the same through the function of the shared library", "emit", "region, function", baseline=BASELINE,
         at_most=1.25, intel=1.4),
    Goal("step", "emit", "step", baseline=BASELINE, at_most=0.35),
    Goal("region enter or leave", "lttng", "region, inline", baseline="LTTng-UST, integer", at_most=1 / 8),
    Goal("region enter or leave", "emit", "region, inline", baseline="perf line, snprintf and write(2)",
         at_most=1 / 40),
    Goal("region enter or leave", "emit", "region, inline", baseline_bench="git",
         baseline="git, perf target, an event", at_most=1 / 200),
    *(Goal(f"its thread, texts on: {event}", "text", f"texts on: {event}", baseline=f"git, {target} target, an event",
           at_most=1 / 2)
      for event in ("def_param", "region, inline") for target in ("perf", "event")),
    # No limit: how the two loops lie in memory makes a cycle by itself.  The instructions are held to one.
    Goal("tracing off, in cycles", "emit", "off: region enter", minus="off: empty loop", baseline="off: one cycle"),
    Goal("tracing off, in instructions", "instructions", "off", minus="nothing", at_most=3),
    Goal('region with a message, "%s %d"', "emit", 'region, "%s %d"', baseline='snprintf "%s %d"', at_most=0.4),
    Goal("what of that the clock alone is", "emit", BASELINE, baseline='snprintf "%s %d"'),
    Goal("single calls, drain running: p99.9", "tail", "region, inline, p99.9", baseline="region, inline, p50",
         at_most=2.5),
    *(Goal(f"added to {work} by {what}", "memory", f"{work}, {what}", minus=work)
      for work in ("independent reads", "computing") for what in ("clock", "event", "step")),
    Goal("added to a short process, shared library: on instead of off", "start", "tracing on, ten events",
         minus="initialized, tracing off", baseline="git version, event target", baseline_minus="git version",
         at_most=1.1),
    Goal("added to a short process, static library: on instead of no library", "start_static",
         "tracing on, ten events", minus="a process without the library", baseline="git version, event target",
         baseline_minus="git version", at_most=1.1),
    Goal("what the files alone add that outlive a process", "start", "the files alone",
         minus="a process without the library", baseline="git version, event target", baseline_minus="git version"),
    Goal("what the same system calls and pages add, without the library", "start", "the kernel's part alone",
         minus="a process without the library", baseline="git version, event target", baseline_minus="git version"),
    Goal("initialized but off, shared library, in us", "start", "initialized, tracing off",
         minus="linked, no call", at_most=10),
    Goal("the same, with loading the library, in us", "start", "initialized, tracing off",
         minus="a process without the library"),
    Goal("what loading an empty library costs, in us", "start", "with an empty library",
         minus="a process without the library"),
    Goal("initialized but off, static library, in us", "start_static", "initialized, tracing off",
         minus="linked, no call", at_most=10),
    Goal("the same, with what the program is larger by, in us", "start_static", "initialized, tracing off",
         minus="a process without the library"),
    Goal("perf text redirected to a file, one processor", "expand", "t2expand, perf text, redirected to a file",
         baseline="babeltrace2, text, redirected to a file", at_least=15),
    Goal("the same against a bare formatter of such lines", "expand", "t2expand, perf text, redirected to a file",
         baseline="bare formatter of perf lines, redirected to a file", at_least=0.6),
    Goal("the same with --output, which babeltrace2 has not", "expand", "t2expand, perf text, --output",
         baseline="babeltrace2, text, redirected to a file"),
    Goal("what a bare formatter of such lines reaches, redirected", "expand",
         "bare formatter of perf lines, redirected to a file", baseline="babeltrace2, text, redirected to a file"),
    Goal("perf text to a pipe, both of 1 MiB, one processor", "pipe", "t2expand, perf text to a pipe",
         baseline="bare formatter, to a pipe", at_least=0.4),
    Goal("the same, read on the same processor", "pipe",
         "t2expand, perf text to a pipe that is read on the same processor",
         baseline="bare formatter, to a pipe that is read on the same processor", at_least=0.4),
    Goal("perf text to a sink (/dev/null), million lines a second", "pipe", "t2expand, perf text to /dev/null",
         at_least=20),
    Goal("two processors, --jobs=2", "pipe", "t2expand to /dev/null, wall-clock", 2,
         baseline="t2expand to /dev/null, wall-clock", baseline_threads=1, at_least=1),
    Goal("perf text to a sink, events against those that babeltrace2 prints", "formats", "perf: speed",
         baseline="babeltrace2: speed"),
    Goal("summary, million events a second", "formats", "summary: speed", at_least=30),
    *(Goal(f"{name} against perf text, events a second", "formats", f"{name}: speed", baseline="perf: speed",
           at_least=FORMAT_GOALS.get(name)) for name in FORMATS),
    *(Goal(f"{name} against perf text, bytes", "formats", f"{name}: size", baseline="perf: size")
      for name in ("babeltrace2", "event", "html", "chrome", "ctf", "csv", "ndjson", "firefox", "otlp", "otlp_proto")),
    Goal("memory of t2expand, in MiB", "fill", "perf text, peak memory", at_most=64),
    Goal("flat-out writer and drain, nothing lost: million events a second", "drain", "flat out, packed + LZ4",
         at_least=60),
    Goal("the same, two writers", "drain", "flat out, packed + LZ4", 2, at_least=40),
    Goal("paced 20 M/s, the defaults: lost, in %", "drain", "paced 20 M/s, packed + LZ4: lost", at_most=0),
    Goal("two threads, paced 10 M/s each, the defaults: lost, in %", "drain", "paced 10 M/s, packed + LZ4: lost", 2,
         at_most=0),
    Goal("bytes of a checkpoint on disk, usual mix, packed", "drain", "mix, packed: size", 4, at_most=9),
    Goal("the same, packed + LZ4", "drain", "mix, packed + LZ4: size", 4, at_most=8),
    *(goal for program, threads in PROGRAMS for goal in goals_of_program(program, threads)),
    Goal("server: its CPU time with events against without", "programs", "server, on: with events",
         baseline="server, on: without events", at_most=1.1),
]


def read_directory(directory):
    """{(bench, name, threads): Measurement}, {bench: [remark]}"""
    measurements, remarks = {}, {}
    for path in sorted(directory.glob("*.measurements"), key=lambda path: ("." in path.stem, path.stat().st_mtime_ns)):
        bench, _, number_of_pass = path.stem.partition(".")
        seen = set()     # of this pass: a benchmark may go on with a measurement further down
        if not number_of_pass:
            remarks[bench] = []
        for line in path.read_text().splitlines():
            fields = line.split("\t")
            if len(fields) == 4:
                key = bench, fields[0], int(fields[1])
                values = list(map(float, fields[3].split()))
                found = measurements.setdefault(key, Measurement(fields[2], [], []))
                found.values.extend(values)
                if key not in seen:
                    found.passes.append([])
                found.passes[-1].extend(values)
                seen.add(key)
            elif line and not number_of_pass:
                remarks[bench].append(line)
    return measurements, remarks


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def fraction(value):
    """1/130 rather than 0.0077"""
    return f"1/{number(1 / value)}" if 0 < value < 0.2 else number(value)


def both(measured):
    """least or greatest, and median, as one cell"""
    return f"{number(measured.best)}, {number(measured.median)} {measured.unit}"


def limit(goal):
    if most_of(goal) is not None:
        return f"<= {fraction(most_of(goal))}"
    return f">= {number(goal.at_least)}" if goal.at_least is not None else "-"


def cell_of(goal, base):
    if not base:
        return ""
    minus = f" less {goal.baseline_minus}" if goal.baseline_minus else ""
    return f"{goal.baseline}{minus}: {both(base)}"


def print_goals(goals, measurements, remarks):
    """Return  the goals whose measurements are missing, though nothing says why"""
    missing = []
    print("| measurement | min, median | baseline: min, median | ratio at best | median ratio | goal | met |")
    print("|---|---|---|---|---|---|---|")
    for goal in goals:
        judged = judge(goal, measurements)
        if judged:
            cells = [fraction(ratio) for ratio in judged.ratios] if judged.base else ["", ""]
            print(f"| {goal.what} | {both(judged.measured)} | {cell_of(goal, judged.base)} | {' | '.join(cells)} "
                  f"| {limit(goal)} | {judged.verdict} |")
        elif goal.bench in remarks:
            if not any(remark.startswith("not measured: ") for remark in remarks[goal.bench]):
                missing.append(goal)
            print(f"| {goal.what} | not measured | | | | {limit(goal)} | |")
    return missing


def print_section(bench, measurements, remarks, note=""):
    """Everything about one benchmark.  Return  the goals that are missing of one whose goals are here"""
    missing = []
    print(f"## {bench}\n")
    if note:
        print(f"{note}\n")
    if bench in APART:
        missing = print_goals(APART[bench], measurements, remarks)
        print()
    print("| measurement | threads | unit | best | median | rounds |\n|---|---|---|---|---|---|")
    for (of_bench, name, threads), measurement in measurements.items():
        if of_bench == bench:
            print(f"| {name} | {threads} | {measurement.unit} | {number(best(measurement))} "
                  f"| {number(statistics.median(measurement.values))} | {len(measurement.values)} |")
    if remarks[bench]:
        print()
    for line in remarks[bench]:
        print(f"- {line}")
    return missing


def renew(path, measurements, remarks):
    """Put the sections of benchmarks that stand apart, as measured now, in place of those in a file of results"""
    text = path.read_text()
    for bench in sorted(remarks.keys() & APART.keys()):
        with contextlib.redirect_stdout(io.StringIO()) as section:
            print_section(bench, measurements, remarks, f"Measured apart from the rest: {machine()}")
        new = section.getvalue()
        old = re.search(rf"^## {bench}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        if not old:
            text = f"{text.rstrip()}\n\n{new}"
        else:
            rest = text[old.end():]
            text = text[:old.start()] + new + ("\n" if rest else "") + rest
    path.write_text(text)


# Vendor, family, model: a virtual machine may call its processor no more than "AMD EPYC"
GENERATIONS = {
    ("GenuineIntel", 6, 85): "Skylake or Cascade Lake", ("GenuineIntel", 6, 106): "Ice Lake",
    ("GenuineIntel", 6, 143): "Sapphire Rapids", ("GenuineIntel", 6, 207): "Emerald Rapids",
    ("GenuineIntel", 6, 173): "Granite Rapids", ("AuthenticAMD", 23, None): "Zen 1 or 2",
    ("AuthenticAMD", 25, None): "Zen 3 or 4", ("AuthenticAMD", 26, None): "Zen 5",
}


def processor():
    """The model name, which generation it is, its nominal frequency"""
    fields = dict(re.findall(r"^([^\t\n]+?)\s*: (.*)$", cpuinfo().split("\n\n")[0], re.MULTILINE))
    name = fields.get("model name", "unknown processor")
    if "cpu family" in fields and "model" in fields:
        vendor, family, model = fields.get("vendor_id", ""), int(fields["cpu family"]), int(fields["model"])
        generation = GENERATIONS.get((vendor, family, model)) or GENERATIONS.get((vendor, family, None))
        name += f" ({f'{generation}, ' if generation else ''}family {family}, model {model})"
    return name + (f", {float(fields['cpu MHz']):.0f} MHz nominal" if "cpu MHz" in fields else "")


def machine():
    """One line on the machine, without its name"""
    compiler = os.popen(f"{os.environ.get('CC', 'cc')} --version").readline().strip()
    return (f"{processor()}, {os.cpu_count()} processors, "
            f"Linux {platform.release()} {platform.machine()}, {compiler}, "
            f"{' '.join(platform.libc_ver())}; load average {os.getloadavg()[2]:.1f} over the last 15 minutes")


HEAD = """# Results

Made by `make bench`; not to be edited. What is measured and how is in NOTES.md, the goals are in table.py.

{machine}

Times of bursts are CPU time of the calling thread. min is the undisturbed cost, median the usual one. A ratio
is taken within each round. "yes": the ratio of the minima and the median ratio both reach the goal; "at best": only the
first; "median only": only the second; "no": neither. Of losses every round counts. "noise": the difference is known
less well than the goal would need. What has no goal is shown for comparison.

A benchmark that leaves a verdict open is run again, as long as the time lasts. "pass 2": minimum and median of all rounds
did not agree, those of this pass agree within 5 %, and better than those of any other one; the row is of this pass alone.
"12 % apart": they agree in none, so nobody knows on this machine. Without such a remark they agree, or do not matter.
"""


def undecided(measurements):
    """Benchmarks that have a goal of which another pass may decide, each once"""
    goals = GOALS + [goal for apart in APART.values() for goal in apart]
    judged = ((goal.bench, judge(goal, measurements)) for goal in goals)
    return list(dict.fromkeys(bench for bench, row in judged if row and not row.is_decided))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--results", action="store_true")
    parser.add_argument("--renew", type=pathlib.Path)
    parser.add_argument("--undecided", action="store_true")
    arguments = parser.parse_args()
    measurements, remarks = read_directory(arguments.directory)
    if arguments.undecided:
        print("\n".join(undecided(measurements)))
        return 0
    if not measurements:
        print("table.py: no measurements", file=sys.stderr)
        return 1
    if arguments.results:
        print(HEAD.format(machine=machine()))
    goals = [goal for goal in GOALS if goal.bench in remarks]
    missing = print_goals(goals, measurements, remarks) if goals else []
    for bench in remarks:
        print()
        missing += print_section(bench, measurements, remarks)
    if arguments.renew:
        renew(arguments.renew, measurements, remarks)
    for goal in missing:
        print(f"table.py: not measured: {goal.bench}: {goal.measurement} against {goal.baseline}", file=sys.stderr)
    return 1 if missing and arguments.results else 0


if __name__ == "__main__":
    sys.exit(main())
