#!/bin/bash
# SPDX-License-Identifier: MIT
# P14: t2expand --recover can be killed at any moment, 1,000 times here, and run again with the same result; it
# removes a ring file only when the output is complete.  See recover.c.
set -u
out=${T2_OUT:-build}
timeout -s KILL 900 "$out/torture/recover" $((10 * ${T2_SCALE:-100})) "${T2_SEED:-1}" || exit 1
