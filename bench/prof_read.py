#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a profile says of bench_prof, beside the truth.

usage: prof_read.py KIND PROFILE PROGRAM TRUTH

KIND     pprof, gperftools, tcmalloc, jemalloc, heaptrack or massif: who has written PROFILE, and so its form
PROGRAM  bench_prof; it is linked at a fixed address, so that addresses are those of its symbols
TRUTH    what it has printed: a line for each function, its name and its numbers

Prints of hogs how far the share of the first is from the true one, in percentage points, and how far all that was
found is from all that was used, in %; of sites the greatest error of the three in %, of what was allocated and of what
is in use at the end; "-" for what the profile does not have.
"""
import bisect
import gzip
import math
import pathlib
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "tools"))
from protobuf import fields, numbers


class Symbols:
    """The functions of a program by address"""

    def __init__(self, program):
        lines = subprocess.run(["nm", "--defined-only", program], capture_output=True, check=True, text=True).stdout
        found = sorted((int(address, 16), name) for address, kind, name in map(str.split, lines.splitlines())
                       if kind in "tT")
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.names[at] if at >= 0 and address < self.addresses[-1] + 4096 else ""

    def first(self, addresses, names):
        """The innermost of these functions in a stack, or None"""
        return next((name for name in map(self.name, addresses) if name in names), None)


# ---- readers: (addresses, numbers) of each stack.  Numbers: ns; or bytes allocated, bytes in use, None if not known


def read_pprof(path):
    """profile.proto: values are counts and ns, or those of the heap in Go's order"""
    with gzip.open(path) as file:
        data = file.read()
    addresses, samples = {}, []
    for number, value in fields(data):
        if number == 4:
            place = dict(fields(value))
            addresses[place[1]] = place.get(3, 0)
        elif number == 2:
            sample = {1: [], 2: []}
            for of_sample, item in fields(value):
                if of_sample in sample:
                    sample[of_sample] += numbers(item)
            samples.append((sample[1], sample[2]))
    for places, values in samples:
        yield [addresses[place] for place in places], values[1:2] if len(values) == 2 else [values[1], values[3]]


def read_gperftools(path):
    """Words of the machine; a tick is a period"""
    with open(path, "rb") as file:
        data = file.read()
    words = [word for word, in struct.iter_unpack("@N", data[:len(data) // 8 * 8])]
    period_us, at = words[3], 2 + words[1]
    while words[at]:
        count, depth = words[at:at + 2]
        yield words[at + 2:at + 2 + depth], [count * period_us * 1000]
        at += 2 + depth


def read_tcmalloc(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r" *\d+: +(\d+) \[ *\d+: +(\d+)\] @ (.*)", line)
            if found:
                yield [int(address, 16) for address in found[3].split()], [int(found[2]), int(found[1])]


def unbiased(count, size, rate):
    """As jeprof: of things of that size on the average one in so many is sampled"""
    return size / (1 - math.exp(-(size / count) / rate)) if count else 0


def read_jemalloc(path):
    with open(path, encoding="utf-8") as file:
        rate, stack = int(next(file).split("/")[1]), None
        for line in file:
            found = re.match(r" +t\*: (\d+): (\d+) \[(\d+): (\d+)\]", line)
            if line.startswith("@"):
                stack = [int(address, 16) for address in line[1:].split()]
            elif found and stack:
                in_use, size, count, allocated = map(int, found.groups())
                yield stack, [unbiased(count, allocated, rate), unbiased(in_use, size, rate)]


def read_heaptrack(path):
    """Its interpreter's lines: ip, trace (ip and parent), allocation (size and trace), + and - of allocations"""
    text = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True, text=True).stdout
    ips, traces, sizes, totals = [0], [(0, 0)], [], []
    for line in text.splitlines():
        kind, rest = line[:1], line[2:].split()
        if kind == "+":
            at = int(rest[0], 16)
            totals[at][0] += sizes[at][0]
            totals[at][1] += sizes[at][0]
        elif kind == "-":
            at = int(rest[0], 16)
            totals[at][1] -= sizes[at][0]
        elif kind == "i":
            ips.append(int(rest[0], 16))
        elif kind == "t":
            traces.append((int(rest[0], 16), int(rest[1], 16)))
        elif kind == "a":
            sizes.append((int(rest[0], 16), int(rest[1], 16)))
            totals.append([0, 0])
    for (_, trace), total in zip(sizes, totals):
        stack = []
        while trace:
            ip, trace = traces[trace]
            stack.append(ips[ip])
        yield stack, total


def read_massif(path):
    """The last tree is that of the peak, which is the end"""
    with open(path, encoding="utf-8") as file:
        trees = file.read().split("heap_tree=")
    tree = [text for text in trees if text.startswith(("peak", "detailed"))][-1]
    for found in re.finditer(r"^ n\d+: (\d+) 0x([0-9A-F]+):", tree, re.MULTILINE):
        yield [int(found[2], 16)], [None, int(found[1])]


READERS = {"pprof": read_pprof, "gperftools": read_gperftools, "tcmalloc": read_tcmalloc, "jemalloc": read_jemalloc,
           "heaptrack": read_heaptrack, "massif": read_massif}


def error(found, true):
    return abs(found - true) / true * 100


def say(numbers):
    print(*("-" if number is None else f"{number:.3f}" for number in numbers))


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in READERS:
        sys.exit(__doc__)
    kind, path, program, truth_path = sys.argv[1:]
    with open(truth_path, encoding="utf-8") as file:
        truth = {words[0]: [int(word) for word in words[1:]] for words in map(str.split, filter(str.strip, file))
                 if re.match("hog_|site_", words[0])}
    symbols, sums = Symbols(program), {name: [0] * len(truth[name]) for name in truth}
    for addresses, numbers in READERS[kind](path):
        name = symbols.first(addresses, truth)
        for i, number in enumerate(numbers if name else []):
            sums[name][i] = None if number is None else sums[name][i] + number
    if "hog_one" in truth:
        found, true = sums["hog_one"][0] + sums["hog_two"][0], truth["hog_one"][0] + truth["hog_two"][0]
        say([abs(sums["hog_one"][0] / found - truth["hog_one"][0] / true) * 100, error(found, true)])
    else:
        say([None if any(sums[name][i] is None for name in truth) else
             max(error(sums[name][i], truth[name][i]) for name in truth) for i in range(2)])


main()
