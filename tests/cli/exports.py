#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: exports.py FORMAT T2EXPAND TRACE

Compare what an export says of a trace with what git's event format says of it.  Prints what differs; exit status 1 if
anything does.  Each format is read with what Python has for it: json, gzip.
"""
import collections
import json
import subprocess
import sys

NS = 1000000000


def expand(t2expand, trace, *options):
    """What t2expand prints, as bytes."""
    return subprocess.run([t2expand, *options, trace], capture_output=True, check=True).stdout


def nanoseconds(text):
    """Decimal text of seconds (nine decimals) or microseconds (three) to whole nanoseconds."""
    whole, _, part = text.partition(".")
    return int(whole + part)


class Oracle:
    """What git's event format says: durations by names, numbers of events, losses."""

    def __init__(self, t2expand, trace):
        text = expand(t2expand, trace, "--format=event", "--nesting=0", "--ns")
        self.events = [json.loads(line, parse_float=str) for line in text.decode("utf-8", "replace").splitlines()]
        self.counts, self.totals = collections.Counter(), collections.Counter()
        self.unknown = collections.Counter()
        self.data, self.threads, self.lost, self.gaps = [], set(), 0, 0
        for event in self.events:
            self.take(event)

    def take(self, event):
        names = event.get("category"), event.get("label")
        if event["event"] == "region_leave" and "t_rel" in event:
            self.counts[names] += 1
            self.totals[names] += nanoseconds(event["t_rel"])
        elif event["event"] == "region_leave":
            self.unknown[names] += 1
        elif event.get("key") == "lost-events" and event["category"] == "trace2":
            self.lost += int(event["value"])
            self.gaps += 1
        elif event["event"] == "data" and event["category"] != "trace2":
            self.data.append((event["category"], event["key"], str(event["value"])))
        self.threads.add((event["sid"], event["thread"]))


class Verdict:
    """Comparisons that failed."""

    def __init__(self):
        self.failed = 0

    def same(self, what, got, want):
        if got != want:
            self.failed += 1
            print(f"{what}: {str(got)[:300]}, not {str(want)[:300]}")


def check_chrome(verdict, oracle, text):
    events = json.loads(text, parse_float=str)["traceEvents"]
    slices = [e for e in events if e["ph"] == "X" and e["cat"] != "trace2.thread"]
    lost = [e for e in slices if e["name"] == "events lost"]
    regions = [e for e in slices if e["name"] != "events lost"]
    exact = [e for e in regions if "end" not in e.get("args", {})]
    counts, totals = collections.Counter(), collections.Counter()
    for e in exact:
        counts[e["cat"], e["name"]] += 1
        totals[e["cat"], e["name"]] += nanoseconds(e["dur"])
    verdict.same("slices", counts, oracle.counts)
    verdict.same("nanoseconds of slices", totals, oracle.totals)
    unknown = collections.Counter((e["cat"], e["name"]) for e in events
                                  if e.get("args", {}).get("end", "").startswith(("not sure", "left here")))
    verdict.same("leaves of unknown duration", unknown, oracle.unknown)
    verdict.same("events lost", sum(e["args"]["count"] for e in lost), oracle.lost)
    verdict.same("gaps", len(lost), oracle.gaps)
    named = [e for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
    verdict.same("threads", len({(e["pid"], e["tid"]) for e in named}), len(oracle.threads))
    data = [(e["cat"], e["name"], str(e["args"].get("value", e["args"].get("values", [""])[0])))
            for e in events if e["ph"] in "Ci" and e["cat"] not in ("trace2", "__metadata")]
    missing = collections.Counter(oracle.data) - collections.Counter(data)
    verdict.same("data that are missing", missing, collections.Counter())
    check_chrome_nesting(verdict, regions)
    check_chrome_flows(verdict, oracle, events)


def check_chrome_nesting(verdict, regions):
    """Slices of a thread are within each other or apart."""
    threads = collections.defaultdict(list)
    for e in regions:
        start = nanoseconds(e["ts"])
        threads[e["pid"], e["tid"]].append((start, -nanoseconds(e["dur"])))
    overlaps = 0
    for spans in threads.values():
        ends = []
        for start, minus in sorted(spans):
            while ends and ends[-1] <= start:
                ends.pop()
            overlaps += bool(ends) and ends[-1] < start - minus
            ends.append(start - minus)
    verdict.same("slices that overlap", overlaps, 0)


def check_chrome_flows(verdict, oracle, events):
    """An arrow for each process of the trace whose parent is there, too; it begins with child_start."""
    sids = {e["sid"] for e in oracle.events}
    children = {sid for sid in sids if "/" in sid and sid.rpartition("/")[0] in sids}
    starts = [e for e in events if e["ph"] == "s"]
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    verdict.same("arrows", (len(starts), len(ends)), (len(children), len(children)))
    for e in starts:
        if nanoseconds(e["ts"]) > nanoseconds(ends[e["id"]]["ts"]):
            verdict.same("an arrow", e, ends[e["id"]])


FORMATS = {"chrome": check_chrome}


def main():
    name, t2expand, trace = sys.argv[1:]
    verdict = Verdict()
    FORMATS[name](verdict, Oracle(t2expand, trace), expand(t2expand, trace, "--format=" + name))
    sys.exit(verdict.failed != 0)


if __name__ == "__main__":
    main()
