#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs in Go that use C, so that they are linked dynamically, under t2 record: stripped of symbols and debugging
# information, also those that may lie anywhere, their samples have the names, files and lines that they have unstripped.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
need go command -v go
export PATH=$out:$PATH HOME=$tmp GOCACHE=$tmp/cache GOFLAGS=-mod=mod GOTOOLCHAIN=local XDG_RUNTIME_DIR=$tmp
mkdir "$tmp/probe" && cd "$tmp/probe" || exit 1

cat >main.go <<'END'
package main

// static int one(int x) { return x + 1; }
import "C"
import "os"

type engine struct{ n uint64 }

//go:noinline
func (e *engine) spin(n uint64) uint64 {
	for i := uint64(0); i < n; i++ {
		e.n = e.n*31 + i
	}
	return e.n
}

//go:noinline
func work(n uint64) uint64 {
	e := &engine{}
	return e.spin(n) + uint64(C.one(1))
}

func main() {
	if work(300000000) == 0 {
		os.Exit(1)
	}
}
END
printf 'module probe\n\ngo 1.19\n' >go.mod
quiet "go build" go build -o full .
quiet "go build, stripped" go build -ldflags='-s -w' -o stripped .
quiet "go build, without debugging information" go build -ldflags=-w -o symbols .
quiet "go build, for any place, stripped" go build -buildmode=pie -ldflags='-s -w' -o anywhere .
cp full none && quiet "strip" strip none

# names PROGRAM: functions and lines of its samples, with how many of them there are
names()
{
	timeout -s KILL 60 t2 record --cpu=250 -o "$1.tlg" -- "./$1" || echo "exit status $?"
	t2 export --format=pprof --profile=cpu --debug=1 "$1.tlg" | sed -nE 's/^#	0x[0-9a-f]+	([^	]*)	.*\/(main\.go:.*)/\1 \2/p' | sort | uniq -c
}
for program in full stripped symbols anywhere none; do
	names "$program" >got
	# of so short a loop some processors interrupt one line only
	check "$program: the function and its lines" grep -qE ' main\.\(\*engine\)\.spin main\.go:1[1-5]$' got
	none "$program: no lines of other functions in it" \
		"$(grep -vE ' main\.(\(\*engine\)\.spin main\.go:1[1-5]|work main\.go:2[01]|main main\.go:24)$' got)"
	t2 export --format=folded --profile=cpu "$program.tlg" >got
	# a function without a frame hides its caller from who goes by frame pointers
	check "$program: Go's own functions" grep -qE 'runtime\.main;main\.main;.*main\.\(\*engine\)\.spin ' got
	none "$program: no address without a name above" "$(grep -E 'main\.main.*([+]0x|;0x)' got)"
done
total
