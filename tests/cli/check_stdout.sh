#!/bin/bash
# SPDX-License-Identifier: MIT
# Text arrives whole wherever standard output leads: a file from its beginning, in its middle or at its end, alone or
# shared, a pipe, a socket, a disk that is full; others' bytes in the same file stay.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need python3 command -v python3
index=$out/examples/t2index
text=("$out/t2expand" --quiet --format=perf)
mkdir "$tmp/tree"
cp -r expand format runtime "$tmp/tree"
cd "$tmp" || exit 1

# Two traces that are several megabytes of text, the second one in small steps of time
for i in {1..8}; do
	TRACE2_RAW=$tmp/run.tlg TRACE2_RAW_CYCLE=20k "$index" tree >/dev/null || exit 1
	TRACE2_RAW=$tmp/other.tlg TRACE2_RAW_CYCLE=20k "$index" tree/expand >/dev/null || exit 1
done
"${text[@]}" run.tlg | cat >want
"${text[@]}" other.tlg | cat >want.other
bytes=$(wc -c <want)
[ "$bytes" -gt 4000000 ] || { echo "FAIL the text is too short: $bytes"; exit 1; }

# same NAME FILE...: the file out is what these files are, one after the other
same()
{
	if cat "${@:2}" | cmp - out; then pass; else fail "$1"; fi
}
# lines NAME: out has the lines of both texts and no others, in any order
lines()
{
	if sort want want.other | cmp - <(sort out); then pass; else fail "$1"; fi
}
echo before >before
echo after >after
head -c 9000000 /dev/zero | tr '\0' x >long

# ---- files --------------------------------------------------------------------------------------
cp long out
"${text[@]}" run.tlg >out
same "a file" want
cp long out
"${text[@]}" run.tlg --output=out
same "a file that is named" want
(cat before && "${text[@]}" run.tlg && cat after) >out
same "between others, by one descriptor" before want after
cp before out
"${text[@]}" run.tlg >>out
same "at the end of a file" before want
cp before out
(cat before && "${text[@]}" run.tlg && "${text[@]}" run.tlg && cat after) >>out
same "between others, at the end of a file" before before want want after
cp long out
"${text[@]}" run.tlg 1<>out
tail -c +$((bytes + 1)) long >rest
same "over the beginning of a file" want rest
cp long out
(head -c 5 before && "${text[@]}" run.tlg) 1<>out
tail -c +$((bytes + 6)) long >rest
head -c 5 before >five
same "in its middle" five want rest
"${text[@]}" before >out 2>err
check "nothing usable: the file is empty" test ! -s out

# Blocks behind the end stay with nobody.
"${text[@]}" run.tlg >out
sync out
check "no more room is taken than the text needs" test $(($(stat -c %b out) * 512)) -lt $((bytes + 200000))

# ---- files that others write to, too ----------------------------------------------------------------
("${text[@]}" run.tlg & "${text[@]}" other.tlg & wait) >out
lines "two processes with one descriptor"
: >out
"${text[@]}" run.tlg >>out &
"${text[@]}" other.tlg >>out
wait $!
lines "two processes, each at the end of the file"
cp long out
python3 - "${text[@]}" run.tlg <<'END' && same "a file that somebody has mapped" want <(tail -c +$((bytes + 1)) long)
import mmap, subprocess, sys
with open("out", "r+b") as out:
    shared = mmap.mmap(out.fileno(), 0)
    shared[-4:] = b"tail"
    subprocess.run(sys.argv[1:], stdout=out, check=True)
    want = open("want", "rb").read()
    if shared[:len(want)] != want or shared[-4:] != b"tail" or out.tell() != len(want):
        sys.exit("FAIL what is mapped is not what was written")
    shared[-4:] = b"xxxx"
END
[ $? -eq 0 ] || failed=$((failed + 1))

# slowly STEP COMMAND...: run a command that stops at each write but the first.  What STEP says happens when out has a
# megabyte: "others" are written far behind the text, or it is killed
cat >slowly.py <<'END'
import os, signal, subprocess, sys, time
process = subprocess.Popen(["strace", "-D", "-qq", "-o", "/dev/null", "-e", "trace=write",
                            "-e", "inject=write:signal=STOP:when=2+", *sys.argv[2:]])
is_done = False
for _ in range(1500):
    if process.poll() is not None:
        sys.exit(process.returncode if is_done else "it was too fast")
    if not is_done and os.path.getsize("out") >= 1 << 20:
        is_done = True
        if sys.argv[1] == "kill":
            process.kill()
            process.wait()
            sys.exit(0)
        with open("out", "r+b") as out:
            os.pwrite(out.fileno(), b"others", 64 << 20)
    process.send_signal(signal.SIGCONT)
    time.sleep(0.02)
process.kill()
sys.exit("it does not end")
END
slowly()
{
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 python3 slowly.py "$@"
}

# What somebody else writes behind the text, while it is written, is still there when it is complete.
# kept NAME: it is
kept()
{
	check "$1: all is there" test "$(stat -c %s out)" -eq $((67108864 + 6))
	check "$1: others' bytes" test "$(tail -c 6 out)" = others
	check "$1: the text" cmp -n "$bytes" want out
}
if strace -o /dev/null true 2>/dev/null; then
	slowly others "${text[@]}" run.tlg >out
	kept "others behind the text"
	rm out && : >out
	slowly others "${text[@]}" run.tlg --output=out
	kept "others behind the text in a file that is named"

	slowly kill "${text[@]}" run.tlg >out
	length=$(stat -c %s out)
	check "killed: it has not written all" test "$length" -lt "$bytes"
	check "killed: the beginning of the text" cmp -n "$length" want out
	sync out
	check "killed: blocks for one write more at most" test $(($(stat -c %b out) * 512)) -lt $((length + 1300000))
fi

# ---- what is no file ----------------------------------------------------------------------------
"${text[@]}" run.tlg | cat >out
same "a pipe" want
expect "/dev/null" 0 "" sh -c '"$@" >/dev/null' - "${text[@]}" run.tlg
python3 - "${text[@]}" run.tlg <<'END'
import socket, subprocess, sys
ours, theirs = socket.socketpair()
process = subprocess.Popen(sys.argv[1:], stdout=theirs)
theirs.close()
with open("out", "wb") as out:
    while part := ours.recv(1 << 16):
        out.write(part)
sys.exit(process.wait())
END
check "a socket: exit status" test $? -eq 0
same "a socket" want
"${text[@]}" run.tlg 2>err | head -c 1000 >out
check "a reader that leaves ends it" test "${PIPESTATUS[0]}" -eq $((128 + $(kill -l PIPE)))
check "without a word" test ! -s err
(trap '' PIPE && exec "${text[@]}" run.tlg) 2>err | head -c 1000 >out
status=${PIPESTATUS[0]}
check "so does one when SIGPIPE is ignored" test "$status" -eq $((128 + $(kill -l PIPE)))
check "without a word, too" test ! -s err

# ---- what fails ---------------------------------------------------------------------------------
# full NAME STATUS PATTERN COMMAND...: one line on stderr, and out is a beginning of the text that is as long as fits
full()
{
	local length

	expect "$@"
	check "$1: one line" test "$(wc -l <err)" -eq 1
	length=$(stat -Lc %s out)
	check "$1: nearly all that fits" test "$length" -gt 900000
	check "$1: the beginning of the text" cmp -n "$length" want out
}
rm out
full "a limit" 1 "File too large" bash -c 'trap "" XFSZ; ulimit -f 1000; exec "$@" >out' - "${text[@]}" run.tlg
check "a limit: it is reached" test "$(stat -c %s out)" -eq 1024000

mkdir disk
if unshare -m mount -t tmpfs none disk 2>/dev/null; then
	for options in "-t tmpfs -o size=2m none" "-o loop image"; do
		[ "$options" = "-o loop image" ] && {
			truncate -s 3m image
			mkfs.ext4 -q image 2>/dev/null && unshare -m mount -o loop image disk 2>/dev/null || continue
		}
		unshare -m bash -c 'mount '"$options"' disk && { "$@" >disk/out; status=$?; cp disk/out out; exit $status; }' \
			- "${text[@]}" run.tlg >stdout 2>err
		check "a full disk, $options" test $? -eq 1
		check "a full disk, $options: one line" test "$(grep -c 'standard output: No space left' err),$(wc -l <err)" = 1,1
		check "a full disk, $options: it is full" test "$(stat -c %s out)" -gt 1200000
		check "a full disk, $options: the beginning of the text" cmp -n "$(stat -c %s out)" want out
	done
fi

total
