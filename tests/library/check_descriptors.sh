#!/bin/bash
# SPDX-License-Identifier: MIT
# What the library's own thread asks of the system, call by call, in programs that use every destination and every
# feature, whose descriptors are taken away and whose disks fill up.  It opens, duplicates and closes no descriptor
# with which a program reckons: a program that says close(1) and then open() gets 1.  And it makes no system call that
# trace2-env(7) does not name, for those who filter them.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=Europe/Berlin

. "$(dirname "$0")/../common.sh"
need_shared_library
need strace command -v strace
need python3 command -v python3
need "right to trace programs" strace -o /dev/null true
cd "$tmp" || exit 1
mkdir -m 700 run dir
export XDG_RUNTIME_DIR=$tmp/run

cat >uses.c <<'EOF'
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>

static void *record(void *name)
{
	const char *rounds = getenv("ROUNDS");

	trace2_thread_start(name);
	for (int i = 0; i < (rounds ? atoi(rounds) : 20000); i++) {
		trace2_region_enter("a", "region", NULL);
		trace2_data_intmax("a", NULL, "i", i);
		trace2_data_string("a", NULL, "s", name);
		trace2_region_leave("a", "region", NULL);
	}
	trace2_thread_exit();
	return NULL;
}

static void work(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, record, "worker");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	usleep(5000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	setlocale(LC_ALL, "");
	trace2_initialize();
	trace2_cmd_start((const char *const *)argv);
	work();
	if (!strcmp(how, "rotate"))
		trace2_rotate();
	if (!strcmp(how, "snapshot"))
		trace2_snapshot("wanted");
	if (!strcmp(how, "closed"))
		close_range(3, ~0U, 0);
	if (!strcmp(how, "fork") && !fork()) {
		work();
		trace2_finish();
		_exit(0);
	}
	trace2_next_cycle();
	work();
	trace2_flush();
	while (wait(NULL) > 0)
		;
	if (!strcmp(how, "signal"))
		raise(SIGTERM);
	trace2_cmd_exit(0);
	return 0;
}
EOF
${CC:-cc} -O2 -I"$top/runtime" -o uses uses.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || exit 1

# traced NAME HOW SETTING...: a program's system calls, in NAME.strace
traced()
{
	env TRACE2_DST_DEBUG=1 "${@:3}" strace -f -qq -o "$1.strace" ./uses "$2" >/dev/null 2>"$1.said"
}

python3 - <<'EOF' &
import os, socket, threading
def serve(path, kind):
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(path)
    if kind == socket.SOCK_STREAM:
        s.listen()
        s = s.accept()[0]
    while s.recv(1 << 20):
        pass
for path, kind in (("s.stream", socket.SOCK_STREAM), ("s.dgram", socket.SOCK_DGRAM)):
    threading.Thread(target=serve, args=(path, kind), daemon=True).start()
threading.Event().wait(1000)
EOF
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$tmp" "$rings"' EXIT
for _ in $(seq 2000); do [ -S s.dgram ] && [ -S s.stream ] && break; sleep 0.05; done

all=(TRACE2="$tmp/normal" TRACE2_PERF="$tmp/perf" TRACE2_EVENT="$tmp/event" TRACE2_RAW="$tmp/all.tlg")
traced raw "" TRACE2_RAW="$tmp/raw.tlg"
traced plain "" TRACE2_RAW="$tmp/plain.tlg" TRACE2_RAW_LZ4=0 TRACE2_RAW_ENCODING=plain TRACE2_RAW_CYCLE=64k
traced texts "" "${all[@]}"
traced dir "" TRACE2_RAW="$tmp/dir" TRACE2_EVENT="$tmp/dir"
traced rotate rotate TRACE2_RAW="$tmp/rotated.tlg" TRACE2_PERF="$tmp/perf"
traced block "" TRACE2_RAW="$tmp/block.tlg" TRACE2_RAW_POLICY=block TRACE2_RAW_RING=128k
traced flight snapshot TRACE2_RAW="$tmp/flight.tlg" TRACE2_RAW_POLICY=overwrite
traced closed closed "${all[@]}"
traced fork fork "${all[@]}"
traced signal signal "${all[@]}" TRACE2_SIGNALS=TERM
traced late "" "${all[@]}" TRACE2_RAW_THREAD=late
traced stream "" TRACE2_EVENT="af_unix:stream:$tmp/s.stream"
# a datagram, and so a call or more, for each line
traced dgram "" ROUNDS=1000 TRACE2_PERF="af_unix:dgram:$tmp/s.dgram"
traced full "" TRACE2_PERF=/dev/full TRACE2_RAW=/dev/full LC_ALL=de_DE.UTF-8 LANGUAGE=de

# usage: calls.py FILE...: "call" or "call low" of library threads, each once with its count
cat >calls.py <<'EOF'
import collections, re, sys
LEAST = 200
GIVES = re.compile(r"open|creat|dup|socket|accept|pipe|memfd|epoll_create|eventfd|signalfd|timerfd|inotify_init|fanotify_init|"
                   r"pidfd|userfaultfd|perf_event|io_uring_setup|fcntl|recvmsg|bpf")
count, threads = collections.Counter(), 0
for path in sys.argv[1:]:
    lines = open(path, errors="replace").read().splitlines()
    ours = {l.split()[0] for l in lines if 'prctl(PR_SET_NAME, "trace2-drain"' in l}
    threads += len(ours)
    begun = {}
    for line in lines:
        thread, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[thread] = rest[:-len("<unfinished ...>")]
            continue
        rest = re.sub(r"^\s*<\.\.\. \w+ resumed>", lambda _: begun.pop(thread, ""), rest)
        call = re.match(r"\s*(\w+)\((.*)", rest)
        if thread not in ours or not call:
            continue
        name, args = call.group(1), call.group(2)
        result = re.search(r"= (-?\d+)", args)
        low = GIVES.search(name) and result and 0 <= int(result.group(1)) < LEAST and not re.search(r"F_[GS]ETF[LD]", args)
        if name in ("close", "close_range", "dup2", "dup3"):
            number = re.match(r"\s*(\d+)", args)
            low = low or not number or int(number.group(1)) < LEAST
        count[name + (" low: " + rest.strip() if low else "")] += 1
print(threads, "threads")
for name in sorted(count):
    print(name)
EOF
python3 calls.py ./*.strace >calls
check "every program had its thread" [ "$(sed -n 's/ threads//p' calls)" -ge 15 ]
none "the library's thread opens, duplicates or closes low descriptors" "$(grep ' low: ' calls)"
sed -n '/^\.\\" system calls of the thread/,/^\.\\" end/p' "$top/runtime/trace2-env.7" | grep -v '^\.\\"' |
	grep -oE '[a-z][a-z0-9_]+' | sort -u >named
none "the library's thread makes calls that trace2-env(7) does not name" \
	"$(sed 1d calls | cut -d' ' -f1 | sort -u | comm -23 - named)"
check "a file that the program has closed goes on" [ "$("$out/t2expand" all.tlg --format=perf 2>/dev/null | grep -c region_leave)" -gt 0 ]
for text in normal perf event; do
	check "$text ends" grep -q atexit "$text"
done
total
