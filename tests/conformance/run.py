#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replay lists of Trace2 calls, expand the recording, and compare with the text that must come out.

usage: run.py [--replay PROGRAM] [--expand PROGRAM] DIRECTORY...

Every folder in DIRECTORY that holds calls.api is a case, with env.txt (the settings, NAME=VALUE) and the
expected normal.txt, perf.txt and event.txt; one check for each text.  git/ was written by git itself for
these calls, own/ by hand from git's rules.  The last line is "N passed, N failed".
"""
import argparse
import os
import subprocess
import sys
import tempfile

from compare import differences

FORMS = ("normal", "perf", "event")
BRIEF = {"normal": "GIT_TRACE2_BRIEF", "perf": "GIT_TRACE2_PERF_BRIEF", "event": "GIT_TRACE2_EVENT_BRIEF"}
NESTING = "GIT_TRACE2_EVENT_NESTING"
SECONDS = 900   # for what hangs


def read(path):
    with open(path, "rb") as file:
        return file.read()


def settings(case):
    return dict(word.split("=", 1) for word in read(os.path.join(case, "env.txt")).decode().split())


def run(command, env):
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    return done.returncode, done.stdout, done.stderr


def record(case, raw, options):
    """Replay the case's calls into the file raw.  Return why it failed, or None."""
    env = {name: value for name, value in os.environ.items() if "TRACE2" not in name}
    env.update(LC_ALL="C", TZ="UTC", HOME="/nonexistent")
    env.update(settings(case), GIT_TRACE2_RAW=raw)
    status, out, err = run([options.replay, os.path.join(case, "calls.api")], env)
    if status or out or err:
        return "replay: exit status %d, output %r" % (status, out + err)
    return None


def check(case, form, raw, options):
    """Expand raw to one text and compare.  Return why it failed, or None."""
    env = settings(case)
    command = [options.expand, raw, "--format=" + form]
    if BRIEF[form] in env:
        command.append("--brief")
    if NESTING in env:
        command.append("--nesting=" + env[NESTING])
    status, out, err = run(command, dict(os.environ, LC_ALL="C", TZ="UTC"))
    if status or err:
        return "t2expand: exit status %d, %r" % (status, err[-300:])
    found = differences(form, read(os.path.join(case, form + ".txt")), out)
    return "\n".join("line %d\n  want %r\n  got  %r" % item for item in found) or None


def run_case(case, options):
    """Return one reason, or None, for each text of the case."""
    with tempfile.TemporaryDirectory() as folder:
        raw = os.path.join(folder, "raw.tlg")
        try:
            reason = record(case, raw, options)
            return [reason or check(case, form, raw, options) for form in FORMS]
        except (OSError, subprocess.TimeoutExpired) as error:
            return [str(error)] * len(FORMS)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--replay", default="build/tests/replay")
    parser.add_argument("--expand", default="build/t2expand")
    parser.add_argument("directories", nargs="+")
    options = parser.parse_args()
    passed = failed = 0
    for directory in options.directories:
        for name in sorted(os.listdir(directory)):
            case = os.path.join(directory, name)
            if not os.path.exists(os.path.join(case, "calls.api")):
                continue
            for form, reason in zip(FORMS, run_case(case, options)):
                passed, failed = passed + (not reason), failed + bool(reason)
                if reason:
                    print("FAIL %s %s\n%s" % (case, form, reason))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
