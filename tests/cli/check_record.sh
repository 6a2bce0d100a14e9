#!/bin/bash
# SPDX-License-Identifier: MIT
# t2 record: any program with the profiler in front of it.  It prints and ends as without; what is sampled is in the
# trace; what cannot be is said in one line.  What README.md shows of it is run.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC

. "$(dirname "$0")/../common.sh"
need_profiler
export PATH=$out:$PATH
cd "$tmp" || exit 1

# samples FILE: how many are in a trace
samples()
{
	t2 export --format=ndjson "$1" | grep -c '"event":"sample"'
}
# environment NAME: what the program gets
environment()
{
	t2 record "${@:2}" -o env.tlg -- env 2>/dev/null | sed -n "s/^$1=//p"
}

# ---- what the program gets ----------------------------------------------------------------------
# $LIB is what only the dynamic linker of glibc replaces; another one finds no such file, and goes on
hidden='/$LIB/../../../../../../../..'
check "the library beside t2" [ "$(environment LD_PRELOAD)" = "$hidden$(readlink -f "$out")/libtrace2-prof.so.0" ]
others=$(readlink -f "$out/libtrace2.so.0")
check "what was to be preloaded is" [ "$(LD_PRELOAD=$others environment LD_PRELOAD)" = \
	"$hidden$(readlink -f "$out")/libtrace2-prof.so.0:$others" ]
check "by itself --cpu" [ "$(environment TRACE2_PROF)" = cpu ]
check "profiles" [ "$(environment TRACE2_PROF --wall=50hz --heap=64k --threadcreate --cpu=20)" = \
	wall=50hz,heap=64k,threadcreate,cpu=20 ]
check "the trace" [ "$(environment TRACE2_RAW)" = "$tmp/env.tlg" ]
# A service manager names t2 as who gets sockets and a watchdog; another process that it names is not t2
own='[ "$LISTEN_PID $WATCHDOG_PID $SYSTEMD_EXEC_PID ${LISTEN_PIDFDID-none}" = "$$ $$ 1 none" ]'
# shellcheck disable=SC2016
expect "what systemd hands to a process" 0 '' env TEST="$own" sh -c \
	'LISTEN_PID=$$ LISTEN_PIDFDID=7 WATCHDOG_PID=$$ SYSTEMD_EXEC_PID=1 exec t2 record -o env.tlg -- sh -c "$TEST"'

# ---- how it ends --------------------------------------------------------------------------------
expect "the program's exit status" 7 '' t2 record sh -c 'exit 7'
rm -f env.tlg
expect "without a name for the trace" 0 '' t2 record "$(command -v env)" true
check "it has that of the program" [ -e env.tlg ]
t2 record -o killed.tlg -- sh -c 'kill -TERM $$' 2>/dev/null &
wait $! 2>/dev/null
check "its signal" [ $? -eq 143 ]
expect "its own options" 0 '' t2 record -o echo.tlg echo -o -- --cpu
check "are not ours" grep -qx -- '-o -- --cpu' stdout
expect "again: the trace is replaced" 0 '' t2 record -o echo.tlg true
mkdir many
expect "a directory" 0 '' t2 record -o many bash -c 'env true; env true'
check "has a file of each process" [ "$(find many -type f | wc -l)" -ge 2 ]

# ---- what is sampled ----------------------------------------------------------------------------
expect "CPU time" 0 '' t2 record --cpu=200 -o cpu.tlg -- bash -c 'for ((i = 0; i < 200000; i++)); do :; done'
check "is in the trace" [ "$(samples cpu.tlg)" -gt 0 ]
expect "a profile of regions, of which there are none" 0 '^t2 export: cpu: .* no regions: --profile=cpu shows' \
	t2 export --format=folded -o nothing.txt cpu.tlg
expect "allocations" 0 '' t2 record --heap=1k -o heap.tlg -- sort "$top/README.md"
check "are in the trace" [ "$(samples heap.tlg)" -gt 0 ]

# ---- who is who ---------------------------------------------------------------------------------
# Programs that know nothing of Trace2 have their command lines.  bash has a getenv() and a putenv() of its own, which
# must not make it a stranger.
expect "programs, one of them bash" 0 '' t2 record -o who.tlg -- env bash -c '/bin/echo a; exec /bin/echo "b c"'
t2 tree --brief who.tlg | sed 's/.*pid://; s/^.\{8\}//' >who
check "the tree has their command lines" diff - who <<'END'
env bash -c '/bin/echo a; exec /bin/echo "b c"'
`-- bash -c '/bin/echo a; exec /bin/echo "b c"'
    |-- /bin/echo a
    `-- /bin/echo 'b c'
END
t2 record --threadcreate -o knows.tlg -- "$out/examples/t2index" "$top/format" >/dev/null
check "a program with a start event of its own has no other" \
	[ "$(t2 export --format=ndjson knows.tlg | grep -c '"event":"start".*t2index')" -eq 1 ]
check "bash gets no variable but those of trace2-env(7)" \
	[ "$(t2 record -o set.tlg -- bash -c 'compgen -v TRACE2_')" = "$(printf 'TRACE2_%s\n' DST_DEBUG PROF RAW)" ]

check "threads are counted, and have no value" grep -qE '^ +4 +threadcreate$' <(t2 summary knows.tlg)

# ---- what processes leave behind ----------------------------------------------------------------
# Each child allocates once in leave_here(), and ends by _exit, exec, a signal, as it should; at last the program itself
# becomes another one.
cat >leave.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *kept;

static __attribute__((noinline)) void leave_here(void)
{
	kept = malloc(100);
	__asm__ volatile("" : : : "memory");
}

static void be_child(int i)
{
	char *const other[] = { "/bin/true", NULL };

	leave_here();
	switch (i % 4) {
	case 0:
		_exit(0);
	case 1:
		execv(other[0], other);
		_exit(1);
	case 2:
		kill(getpid(), SIGKILL);
	default:
		exit(0);
	}
}

int main(void)
{
	char *const other[] = { "/bin/sh", "-c", ":", NULL };

	for (int i = 0; i < 16; i++) {
		if (!fork())
			be_child(i);
		while (wait(NULL) < 0)
			continue;
	}
	leave_here();
	execv(other[0], other);
	return 1;
}
END
quiet "compile" ${CC:-cc} -g -O1 -o leave leave.c
# rings TRACE: ring files of processes that write there; left TRACE: how many
rings()
{
	find "${XDG_RUNTIME_DIR:-/dev/shm}" /dev/shm -name 'trace2-*.ring' -exec grep -lF "$1" {} + 2>/dev/null
}
left()
{
	rings "$1" | wc -l
}
# collected NAME TRACE: all that 3 * 17 processes did is there, and nothing elsewhere
collected()
{
	local n

	n=$(t2 show --samples "$2" 2>/dev/null | grep -cE '\| sample .*count:1 .*stack:.*leave_here')
	check "$1: what ended somehow is in the trace: $n of 51" [ "$n" -eq 51 ]
	check "$1: no ring files stay" [ "$(left "$2")" -eq 0 ]
}
# what an earlier process has left, for somebody else's trace
env LD_PRELOAD="$out/libtrace2-prof.so.0" TRACE2_RAW="$tmp/other.tlg" TRACE2_PROF=heap=1 ./leave
before=$(left "$tmp/other.tlg")
check "others leave something" [ "$before" -gt 0 ]
expect "into a file" 0 '' t2 record --heap=1 -o "$tmp/tree.tlg" -- sh -c './leave; ./leave; exec ./leave'
collected "a file" "$tmp/tree.tlg"
quiet "it is one of frames" lz4 -t tree.tlg
mkdir tree
expect "into a directory" 0 '' t2 record --heap=1 -o "$tmp/tree" -- sh -c './leave; ./leave; exec ./leave'
collected "a directory" "$tmp/tree"
expect "into a plain file" 0 '' env TRACE2_RAW_LZ4=0 \
	t2 record --heap=1 -o "$tmp/plain.tlg" -- sh -c './leave; ./leave; exec ./leave'
collected "a plain file" "$tmp/plain.tlg"
# systemd has started t2, says the environment: the program takes its place, and has no child that it does not know
expect "as a service's main process" 0 '' sh -c 'echo $$; SYSTEMD_EXEC_PID=$$ exec \
	t2 record --heap=1 -o service.tlg -- sh -c "echo \$\$; cat /proc/\$\$/task/\$\$/children; ./leave; ./leave; exec ./leave"'
check "the program has its id" [ "$(sort -u stdout | grep -c .)" -eq 2 ]
check "and cat is its only child" [ "$(sed -n 3p stdout | wc -w)" -eq 1 ]
for ((i = 0; i < 600; i++)); do
	[ "$(left "$tmp/service.tlg")" -gt 0 ] || break
	sleep 0.1
done
collected "a service's file" "$tmp/service.tlg"
check "others' ring files stay" [ "$(left "$tmp/other.tlg")" -eq "$before" ]
rings "$tmp/other.tlg" | xargs rm -f
# Signals reach the program
t2 record -o killed.tlg -- sh -c 'trap "exit 9" TERM; echo ready; while :; do :; done' >ready 2>/dev/null &
until [ -s ready ]; do sleep 0.1; done
kill -TERM $!
wait $!
check "a signal is forwarded" [ $? -eq 9 ]
# The shell starts what it leaves in the background with SIGINT ignored
cat >hears.c <<'END'
#include <signal.h>
#include <unistd.h>

static void on_signal(int signal)
{
	(void)signal;
	_exit(9);
}

int main(void)
{
	signal(SIGINT, on_signal);
	if (write(1, "ready\n", 6) < 0)
		return 1;
	for (;;)
		pause();
}
END
quiet "compile" ${CC:-cc} -o hears hears.c
rm -f ready
t2 record -o hears.tlg -- ./hears >ready 2>/dev/null &
until [ -s ready ]; do sleep 0.1; done
kill -INT $!
wait $!
check "one that t2 was started to ignore, too" [ $? -eq 9 ]

# ---- what is wrong ------------------------------------------------------------------------------
expect "no program" 2 '^t2 record: no program to run' t2 record --cpu
expect "an unknown option" 2 '^t2 record: no such option: --nothing ' t2 record --nothing true
expect "an option without its value" 2 '^t2 record: this option needs a value: -o ' t2 record -o
expect "a value that is none" 2 '^t2 record: --cpu needs 1 to 10000 a second, not: fast$' t2 record --cpu=fast true
rm -f refused
for wrong in --cpu=20000 --cpu=0 --cpu=11khz --cpu= --wall=-1 --heap=0 --heap=2g --block=1h --mutex=0 --frames=0 \
	--frames=129 --unwind=libunwind --threads=TERM --threads=usr2 --threads=KILL; do
	expect "a value out of bounds, $wrong" 2 "^t2 record: ${wrong%%=*} needs .*, not: ${wrong#*=}\$" \
		t2 record "$wrong" -o refused.tlg touch refused
	check "$wrong: in one line" [ "$(wc -l <err)" -eq 1 ]
done
check "the program has not run" [ ! -e refused ]
# What record lets through the library does, too: the same values are good for both
for good in cpu=10000 cpu=0.1KHZ cpu=1khz cpu=10001 wall=1Hz heap=1g heap=1025m block=1ns block=1001s mutex=1 mutex=x \
	frames=128 frames=129 unwind=auto unwind=tables unwind=fp unwind=gp threads=RTMIN+1 threads=10 threads=HUP; do
	env LD_PRELOAD="$library" TRACE2_PROF="$good" TRACE2_DST_DEBUG=1 TRACE2_RAW="$tmp/bound.tlg" true 2>said
	t2 record "--$good" -o bound.tlg true 2>/dev/null
	[ $? -eq 2 ] && refused=1 || refused=0
	check "--$good and TRACE2_PROF=$good agree" [ "$refused" -eq "$(grep -c ', ignored$' said)" ]
done
# The user's own list stays, and options come behind it
check "TRACE2_PROF is added to" [ "$(TRACE2_PROF=heap=64k,frames=32 environment TRACE2_PROF --wall --unwind=fp)" = \
	heap=64k,frames=32,wall,unwind=fp ]
check "and is enough" [ "$(TRACE2_PROF=heap environment TRACE2_PROF)" = heap ]
check "what is no profile is not" [ "$(TRACE2_PROF=frames=32 environment TRACE2_PROF)" = frames=32,cpu ]
check "a report of leaks needs allocations" [ "$(environment TRACE2_PROF --leaks)" = leaks,heap ]
check "which may be there" [ "$(TRACE2_PROF=leaks environment TRACE2_PROF --heap=1k)" = leaks,heap=1k ]
cat >leak.c <<'END'
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) static void leak_here(void)
{
	for (int i = 0; i < 100; i++)
		kept = malloc(1000);
}

int main(void)
{
	leak_here();
	return 0;
}
END
quiet "compile" ${CC:-cc} -g -O1 -o leak leak.c
expect "leaks" 0 'leak_here|leak\+0x|in use' t2 record --leaks --heap=1 -o leak.tlg -- ./leak
expect "leaks of TRACE2_PROF" 0 'leak_here|leak\+0x|in use' env TRACE2_PROF=leaks t2 record --heap=1 -o leak.tlg -- ./leak
check "what else is worth saying, too" [ "$(t2 record --cpu=10000 -o out.tlg sh -c 'env true; env true' 2>&1 | grep -c ticks)" -le 1 ]
# wrong VARIABLE=VALUE: how many lines three processes say of a wrong setting
wrong()
{
	env TRACE2_RAW_RING=x "$1" t2 record -o out.tlg sh -c '/bin/true; exit $(/bin/true)' 2>&1 | grep -c "'TRACE2_RAW_RING'"
}
check "each process says what is wrong, if asked" [ "$(wrong TRACE2_DST_DEBUG=1)" -eq 3 ]
check "else the program, and no child" [ "$(wrong NOTHING=)" -eq 1 ]
check "nor what the program becomes" \
	[ "$(TRACE2_RAW_RING=x t2 record -o out.tlg sh -c 'exec env true' 2>&1 | grep -c "'TRACE2_RAW_RING'")" -eq 1 ]
expect "which may ignore the signal that asks" 0 '' t2 record --threads=USR2 -o out.tlg sh -c 'trap "" USR2; exec true'
expect "unlike the program itself" 0 "cannot start 'threads'" \
	env --ignore-signal=USR2 t2 record --threads=USR2 -o out.tlg true
expect "a program that is not there" 127 '^t2 record: nothing-of-this-name: No such file' t2 record nothing-of-this-name
expect "a program that is none" 126 '^t2 record: ./many: Permission denied' t2 record ./many
echo precious >precious.txt
expect "a file that is no trace" 1 'precious.txt: exists, and is not named as a trace' t2 record -o precious.txt true
check "is as it was" grep -qx precious precious.txt
expect "a trace that cannot be written" 1 "^t2 record: $tmp/no/where.tlg: No such file" t2 record -o no/where.tlg touch ran
check "the program has not run for nothing" [ ! -e ran ]
expect "a directory that is not there yet" 0 '' t2 record -o new/ true
check "is made" [ "$(find new -type f | wc -l)" -eq 1 ]
mkdir alone
cp "$out/t2expand" alone/t2 || exit 1
expect "no library" 1 'libtrace2-prof.so.0: neither beside t2, nor in ../lib' alone/t2 record true
mkdir "a b"
cp "$out/t2expand" "a b/t2" && cp "$out/libtrace2-prof.so.0" "$out/libtrace2.so.0" "a b" || exit 1
expect "a path that LD_PRELOAD cannot have" 1 'LD_PRELOAD takes no path with a blank' "a b/t2" record true
mkdir -p there/bin there/lib
cp "$out/t2expand" there/bin/t2 && cp "$out/libtrace2-prof.so.0" "$out/libtrace2.so.0" there/lib || exit 1
expect "the library in ../lib" 0 '' there/bin/t2 record -o there.tlg true
check "is found" [ -s there.tlg ]

# ---- the last line ------------------------------------------------------------------------------
if command -v script >/dev/null; then
	# on_terminal ARGUMENTS...: t2 record there; what the terminal shows is in shown
	on_terminal()
	{
		script -qec "t2 record $*" /dev/null </dev/null | tr -d '\r' >shown
	}
	line='^t2 record: last\.tlg: [0-9.]+ (B|KiB), samples of'
	on_terminal --cpu --heap --block -o last.tlg -- "sh -c 'echo said; exit 3'"
	check "on a terminal: what there is, and the next command" \
		grep -qE "$line cpu, heap and block; t2 report last\.tlg$" shown
	check "on a terminal: that is all" [ "$(head -n 1 shown), $(wc -l <shown)" = "said, 2" ]
	TRACE2_PROF=cpu on_terminal --cpu=200 --heap -o "'a b.tlg'" true
	check "on a terminal: each kind once, and a name in quotes" \
		grep -qE "^t2 record: 'a b\.tlg': [0-9.]+ (B|KiB), samples of cpu and heap; t2 report 'a b\.tlg'$" shown
	mkdir traces
	on_terminal --heap -o "$PWD/traces/" true
	check "on a terminal: of a directory" grep -qE "^t2 record: traces/: [0-9.]+ (B|KiB), samples of heap; t2 report traces/$" shown
	on_terminal --heap -o last.tlg "true 2>stderr"
	check "not on a terminal: nothing" [ ! -s shown ]
	check "not on a terminal: nothing there either" [ ! -s stderr ]
fi

# ---- README.md ----------------------------------------------------------------------------------
awk -v mark='<!-- profile -->' '$0 == mark { on = 1; next } /^```/ { if (inside) exit; if (on) inside = 1; next } inside' \
	"$top/README.md" >commands
check "README.md has commands" [ "$(wc -l <commands)" -eq 3 ]
ln -s "$out" build
sh -eu commands >stdout 2>stderr
check "README.md: they run" [ $? -eq 0 ]
check "README.md: there is a page" [ -s index.html ]
check "README.md: a table of functions" [ "$(grep -cE '^ +[0-9.]+ m?s +[0-9.]+% .*%  [a-z_]+' stdout)" -eq 5 ]
for function in find_slot read_file; do
	check "README.md: $function is in the profile" grep -q "  $function  (idx_" <(t2 report --profile=cpu --top=100 index.tlg)
done
if command -v go >/dev/null; then
	t2 export --format=pprof --profile=cpu -o cpu.pb.gz index.tlg
	check "README.md: what go tool pprof prints" grep -qE '[0-9]m?s .* find_slot' <(go tool pprof -top cpu.pb.gz 2>&1)
fi
total
