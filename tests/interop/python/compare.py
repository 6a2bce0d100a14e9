#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: compare.py WITHOUT.xml WITH.xml

How many tests of CPython's suite passed in both runs, then the tests that passed without and not with, a line each.
Both are what regrtest's --junit-xml writes.  A test that several modules have (test.fork_wait) passed if it did in all.
What a module does around its tests counts as one more, "test.MODULE.*": regrtest adds its errors up and names no test.
"""
import sys
import xml.etree.ElementTree as tree


def passed(path):
    """Names of tests to whether they passed; none where the run did not come to its end."""
    results = {}
    try:
        suites = tree.parse(path).getroot().iter("testsuite")
    except (OSError, tree.ParseError):
        return results
    for suite in suites:
        wrong = int(suite.get("errors", 0)) + int(suite.get("failures", 0))
        module = None
        for case in suite.iter("testcase"):
            name = case.get("name")
            module = ".".join(name.split(".")[:2]) + ".*"
            wrong -= case.find("error") is not None or case.find("failure") is not None
            results[name] = not len(case) and results.get(name, True)
        if module:
            results[module] = wrong <= 0 and results.get(module, True)
    return results


without, with_us = passed(sys.argv[1]), passed(sys.argv[2])
good = [name for name, is_good in without.items() if is_good]
print(sum(with_us.get(name, False) for name in good))
for name in sorted(good):
    if not with_us.get(name, False):
        print(name)
