#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: firefox_samples.py profiler-cli.js SESSION T2EXPAND TRACE

Compare what the Firefox Profiler's command line says of the threads with samples in the profile that a session has
loaded with --format=folded: for each profile, what is spent in each innermost function, all threads together.  Prints
what differs, and at the end how many numbers are the same; exit status 1 if any differs.
"""
import collections
import subprocess
import sys

from profiler_cli import asker

CLI, SESSION, T2EXPAND, TRACE = sys.argv[1:]
ask = asker(CLI, SESSION)
# By the name behind that of a thread: what --profile calls it, and how much one of its units is
PROFILES = {"CPU": ("cpu", 1e6), "Wall clock": ("wall", 1e6), "Heap": ("allocs", 1), "Blocked": ("block", 1e6),
            "Mutex": ("mutex", 1e6), "files": ("files", 1)}


def find():
    """What the Firefox Profiler has, by profile and function."""
    found = collections.defaultdict(collections.Counter)
    for thread in ask("thread", "list")["threads"]:
        _, colon, title = thread["name"].rpartition(": ")
        if not colon:
            continue
        name, unit = PROFILES[title]
        for function in ask("thread", "functions", "--thread=" + thread["threadHandle"])["functions"]:
            found[name][function["name"]] += function["selfSamples"] * unit
    return found


def read(profile):
    """The same of the folded stacks."""
    command = [T2EXPAND, "--format=folded", "--profile=" + profile, TRACE]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    sums = collections.Counter()
    for line in lines:
        stack, _, value = line.rpartition(" ")
        sums[stack.rpartition(";")[2]] += int(value)
    return sums


def main():
    found, same, wrong = find(), 0, 0
    for profile, got in found.items():
        want = read(profile)
        for name in want.keys() | +got:
            # what a sample stands for is rounded: half a byte of 4096, and more, at most
            if abs(got[name] - want[name]) <= 1 + want[name] / 8192:
                same += 1
            else:
                wrong += 1
                print(profile, name, got[name], "not", want[name])
    print(same, "numbers of", *sorted(found))
    sys.exit(wrong != 0)


main()
