#!/bin/bash
# SPDX-License-Identifier: MIT
# XDG_RUNTIME_DIR may lie on a disk.  Then a process must not make the kernel read ahead in its ring file, which is
# empty and has 8 GB: that would cost each process milliseconds.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
need fincore type fincore
case $(stat -f -c %T "$tmp") in
tmpfs | ramfs | nfs* | fuse*)
	echo "no disk below $tmp"
	exit 77
	;;
esac
export XDG_RUNTIME_DIR=$tmp
most=16      # pages in memory: a kernel that reads ahead has 32 and more

# The shell is traced itself, so its ring file is there while it looks.
pages=$("$out/t2" record --cpu -o "$tmp/x.tlg" -- sh -c 'fincore -b -n -o PAGES "$XDG_RUNTIME_DIR"/trace2-*.ring; exit 0' |
	sort -n)
check "the ring files are there" [ -n "$pages" ]
for n in $pages; do
	check "$n pages of a ring file are in memory" [ "$n" -le $most ]
done
total
