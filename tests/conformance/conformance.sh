#!/bin/sh
# SPDX-License-Identifier: MIT
# The conformance cases, with the programs in T2_OUT.
out=${T2_OUT:-build}
exec python3 -B tests/conformance/run.py --replay "$out/tests/replay" --expand "$out/t2expand" \
	tests/conformance/git tests/conformance/own
