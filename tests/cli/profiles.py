#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: profiles.py PROFILE.pb.gz

Print a profile of samples, as protoc decodes it: its types and period, a line for each sample with its values, its
functions from the innermost to main, "(inlined)" behind what was inlined, and its labels; then what is wrong in itself.
"""
import gzip
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
sys.dont_write_bytecode = True
from exports import parse_text  # noqa: E402


def decode(path):
    command = ["protoc", "--decode=Profile", "-I", os.path.dirname(__file__) or ".", "profile.proto"]
    with gzip.open(path) as file:
        data = file.read()
    text = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
    return parse_text(iter(text.replace(": true", ": 1").splitlines()))


def first(fields, name):
    return fields[name][0] if fields[name] else 0


def main(path):
    profile = decode(path)
    strings = [text.decode() for text in profile["string_table"]]
    functions = {f["id"][0]: strings[first(f, "name")] for f in profile["function"]}
    mappings = {m["id"][0]: m for m in profile["mapping"]}
    places = {place["id"][0]: place for place in profile["location"]}

    def kind(value):
        return strings[first(value, "type")] + "/" + strings[first(value, "unit")]

    def frames(number):
        lines = places[number]["line"]
        names = [functions[first(line, "function_id")] for line in lines] or ["?"]
        return [name + " (inlined)" for name in names[:-1]] + names[-1:]

    print("types", *(kind(value) for value in profile["sample_type"]), "first", strings[first(profile, "default_sample_type")],
          "period", kind(profile["period_type"][0]), first(profile, "period"))
    for sample in profile["sample"]:
        labels = [strings[first(label, "key")] + "=" + (strings[label["str"][0]] if label["str"] else "number")
                  for label in sample["label"]]
        stack = [name for number in sample["location_id"] for name in frames(number)]
        stack = stack[:stack.index("main") + 1] if "main" in stack else stack[:1]
        print(*sample["value"], " < ".join(stack), *labels)
    for place in places.values():
        mapping = mappings.get(first(place, "mapping_id"))
        if mapping and not mapping["memory_start"][0] <= place["address"][0] < mapping["memory_limit"][0]:
            print("a location is not in its mapping")
    for mapping in mappings.values():
        if strings[first(mapping, "filename")].endswith("sampler") and len(strings[first(mapping, "build_id")]) != 40:
            print("no build-id")


main(sys.argv[1])
