# SPDX-License-Identifier: MIT
# Sourced by checks that need packages of npm.
# shellcheck shell=bash disable=SC2034,SC2154

# fetch NAME: what package-lock.json in tests/interop/NAME lists, below $modules.  Where nothing can be fetched the check
# is skipped; in CI, which has a network, one that is slow or fails for a while is waited for.
fetch()
{
	modules=$top/build/interop/$1
	mkdir -p "$modules"
	cp "$top/tests/interop/$1"/package*.json "$modules/"
	(cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund ${CI:+--fetch-retries=5} >npm.log 2>&1) && return
	echo "no modules: npm cannot fetch them"
	exit 77
}
