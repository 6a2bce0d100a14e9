#!/bin/sh
# SPDX-License-Identifier: MIT
# The conformance cases are only worth what their comparison sees.
exec python3 -B tests/conformance/check_compare.py
