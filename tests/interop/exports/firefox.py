#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: firefox.py profiler-cli.js SESSION KIND... <EXPECTED

Compare what the Firefox Profiler's command line says of the profile that a session has loaded with the lines of these
kinds that expected.sql makes: markers by their type and name, and the time of each function, a region here, less that
of those it called.  Prints what differs; exit status 1 if anything does.  Its times are doubles: as many nanoseconds as
there are markers may be missing.
"""
import collections
import sys

from profiler_cli import asker

CLI, SESSION, *KINDS = sys.argv[1:]
ask = asker(CLI, SESSION)


def take_markers(found, thread):
    for kind in ask("thread", "markers", thread, "--group-by", "type,name")["customGroups"]:
        for group in kind["subGroups"]:
            sums = found[kind["groupName"], group["groupName"]]
            sums[0] += group["count"]
            if kind["groupName"] == "region" and group["isInterval"]:
                sums[1] += group["count"] * group["durationStats"]["avg"] * 1e6


def find():
    """Numbers by kind and name."""
    found = collections.defaultdict(lambda: [0, 0.0])
    threads = ["--thread=" + thread["threadHandle"] for thread in ask("thread", "list")["threads"]]
    found["threads", ""][0] = len(threads)
    for thread in threads:
        take_markers(found, thread)
        for function in ask("thread", "functions", thread)["functions"]:
            found["alone", function["name"]][1] += function["selfSamples"] * 1e6
    return {key: sums for key, sums in found.items() if key[0] in KINDS}


def read(lines):
    """The same of what is expected."""
    expected = {}
    for kind, name, *numbers in (line.rstrip("\n").split("|") for line in lines):
        if kind in KINDS:
            numbers = [int(number) for number in numbers]
            expected[kind, name] = [0, *numbers] if kind == "alone" else [*numbers, 0][:2]
    return expected


def main():
    found, expected = find(), read(sys.stdin)
    wrong = 0
    for key in found.keys() | expected.keys():
        got, want = found.get(key, [0, 0]), expected.get(key, [0, 0])
        if got[0] != want[0] or abs(got[1] - want[1]) > want[0] + 10:
            wrong += 1
            print(*key, got, "not", want)
    sys.exit(wrong != 0 or not expected)


main()
