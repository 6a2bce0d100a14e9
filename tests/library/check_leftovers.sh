#!/bin/bash
# SPDX-License-Identifier: MIT
# Ring files that dead processes leave.  A server forks workers with signals blocked; they change their user, end by
# exit(), _exit(), by a signal's default action, as another program.  All that they recorded is in the trace, none of
# their ring files stays, and nothing is said to be missing.  What is not written stays; what is not a ring file of
# this user, or belongs to somebody who lives, is not touched.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_shared_library
cd "$tmp" || exit 1
chmod 1777 "$tmp"   # nobody writes there, too
case $(stat -f -c %T "$rings") in
tmpfs | ext2/ext3 | xfs | btrfs) ;;
*) echo "no file system that tells who has a file mapped"; exit 77 ;;
esac

${CC:-cc} -O2 -Wall -I"$top/runtime" -o server "$top/tests/library/leftovers/server.c" -L"$out" -Wl,-rpath,"$out" \
	-ltrace2 -pthread || fail "server.c does not compile"

ring_files()
{
	find "$rings" -name 'trace2-*.ring' -o -name 'trace2-*.ctl' | wc -l
}

# collected: the server has removed them when it ended; or, where the processes here may make some system calls only, so
# that they do not look when they end, one in sixteen of those that come next does
collected()
{
	for ((i = 0; i < 2000; i++)); do
		[ "$(ring_files)" -eq 0 ] && return
		grep -q '^Seccomp:[[:space:]]*0' /proc/self/status && break
		TRACE2_RAW="$tmp/short" ./server 0 >/dev/null
	done
	[ "$(ring_files)" -eq 0 ]
}

# served NAME ROUNDS VARIABLE...
served()
{
	local name=$1 rounds=$2 recorded shown

	shift 2
	rm -f trace
	recorded=$(env TRACE2_RAW="$tmp/trace" "$@" timeout 60 ./server "$rounds")
	check "$name: each worker ends as it is to" [ $? -eq 0 ]
	check "$name: no ring file stays: $(ring_files)" collected
	shown=$("$out/t2expand" --format=event trace 2>err | grep -c '"key":"work"')
	check "$name: $shown of $recorded are in the trace" [ "$shown" = "$recorded" ]
	none "$name: nothing is missing" "$(grep -E 'missing|lost' err)"
}
served "server" 4
served "late thread" 2 TRACE2_RAW_THREAD=late
served "no thread" 2 TRACE2_RAW_THREAD=off

# ---- a server whose workers leave their files -----------------------------------------------------------
# Nobody's code runs at a worker's end.  Those that come later remove more than they leave
cat >leaves.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
#include "trace2.h"
int main(void)
{
	trace2_initialize();
	for (int i = 0; i < 3000; i++) {
		pid_t child = fork();
		if (child < 0)
			return 1;
		if (!child) {
			trace2_data_intmax("leaves", NULL, "work", i);
			trace2_flush();
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}
END
${CC:-cc} -O2 -I"$top/runtime" -o leaves leaves.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "leaves.c"
TRACE2_RAW="$tmp/leaves.tlg" ./leaves
check "3,000 workers that end by _exit() record" [ $? -eq 0 ]
check "few of their ring files are left: $(ring_files)" [ "$(ring_files)" -lt 500 ]
check "and none in the end" collected
rm -f leaves.tlg

# ---- the same, of processes that record nothing and may be told to: each has a page for that ---------------
cat >sleeps.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trace2.h"
int main(int argc, char **argv)
{
	trace2_initialize();
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		pid_t child = fork();
		if (child < 0)
			return 1;
		if (!child)
			_exit(0);
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	if (argc > 2)
		execl(argv[0], argv[0], "0", (char *)NULL);
	return 0;
}
END
${CC:-cc} -O2 -I"$top/runtime" -o sleeps sleeps.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "sleeps.c"
TRACE2_CTL=1 ./sleeps 3000
check "3,000 workers that record nothing end by _exit()" [ $? -eq 0 ]
check "few of their pages are left: $(ring_files)" [ "$(ring_files)" -lt 500 ]
check "and none in the end" collected
TRACE2_CTL=1 ./sleeps 0 exec
check "nor that of a program that became another" [ "$(ring_files)" -eq 0 ]

# ---- a program that becomes itself, 20 times ----------------------------------------------------------
cat >becomes.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "trace2.h"
int main(int argc, char **argv)
{
	char rounds[16];
	const char *next[] = { argv[0], rounds, NULL };
	int left = atoi(argv[1]), id;

	(void)argc;
	trace2_initialize();
	trace2_data_intmax("becomes", NULL, "work", left);
	if (!left)
		return 0;
	sprintf(rounds, "%d", left - 1);
	id = trace2_exec(argv[0], next);
	execv(argv[0], (char **)next);
	trace2_exec_result(id, 1);
	return 1;
}
END
${CC:-cc} -O2 -I"$top/runtime" -o becomes becomes.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "becomes.c"
for thread in init late off; do
	rm -f becomes.tlg
	TRACE2_RAW="$tmp/becomes.tlg" TRACE2_RAW_THREAD=$thread ./becomes 20
	check "by exec, $thread: no ring file stays: $(ring_files)" [ "$(ring_files)" -eq 0 ]
	shown=$("$out/t2expand" --format=event becomes.tlg 2>err | grep -c '"key":"work"')
	check "by exec, $thread: $shown of 21 are in the trace" [ "$shown" -eq 21 ]
	none "by exec, $thread: nothing is missing" "$(grep -E 'missing|lost' err)"
done

# ---- a program that becomes one that is not traced: nobody removes a file for it -------------------------
cat >leaves.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "trace2.h"
int main(int argc, char **argv)
{
	int id;

	trace2_initialize();
	trace2_data_intmax("leaves", NULL, "work", argc);
	id = trace2_exec("/nonexistent/program", (const char *const *)argv);
	execv("/nonexistent/program", argv);
	trace2_exec_result(id, errno);
	trace2_data_intmax("leaves", NULL, "work", argc);
	trace2_exec("/bin/ls", (const char *const *)argv);
	execl("/bin/ls", "ls", "-l", "/proc/self/fd", (char *)NULL);
	return 1;
}
END
${CC:-cc} -O2 -I"$top/runtime" -o leaves leaves.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "leaves.c"
# Where a further sandbox would not show, the library does not dare to make new system calls.
gone_by_exec()
{
	[ "$(ring_files)" -eq 0 ] && return
	grep -q '^Seccomp:[[:space:]]*[12]' /proc/self/status && grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status && collected
}
for settings in TRACE2_RAW_THREAD={init,auto,late,off} TRACE2_PERF="$tmp/leaves.perf" TRACE2=2; do
	rm -f leaves.tlg
	env TRACE2_RAW="$tmp/leaves.tlg" "$settings" ./leaves >fds 2>/dev/null
	check "untraced, ${settings##*/}: it has run" [ -s fds ]
	check "untraced, ${settings##*/}: no ring file stays: $(ring_files)" gone_by_exec
	none "untraced, ${settings##*/}: no descriptor stays" "$(grep -E 'leaves|ring|deleted' fds)"
	shown=$("$out/t2expand" --format=event leaves.tlg 2>err | grep -c '"key":"work"')
	check "untraced, ${settings##*/}: $shown of 2 are in the trace" [ "$shown" -eq 2 ]
	none "untraced, ${settings##*/}: nothing is missing" "$(grep -E 'missing|lost' err)"
done

# ---- what stays --------------------------------------------------------------------------------------
# a worker without a thread that is killed before it has written
cat >killed.c <<'END'
#include <signal.h>
#include <unistd.h>
#include "trace2.h"
int main(void)
{
	trace2_initialize();
	for (int i = 0; i < 100; i++)
		trace2_data_intmax("killed", NULL, "work", i);
	raise(SIGKILL);
}
END
${CC:-cc} -O2 -I"$top/runtime" -o killed killed.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "killed.c"
{ TRACE2_RAW="$tmp/killed.tlg" TRACE2_RAW_THREAD=off ./killed; } 2>/dev/null
check "a killed process leaves its ring file" [ "$(ring_files)" -eq 1 ]
killed=$(echo "$rings"/*.ring)

name=trace2-0000000000000001-000000000000000
mkfifo "$rings/${name}1.ring"
echo precious >target
ln -s "$tmp/target" "$rings/${name}2.ring"
echo precious >"$rings/${name}3.ring"
mkdir "$rings/${name}4.ring"
: >"$rings/${name}5.ring"
: >"$rings/trace2-notes.ring"
gone()
{
	for ((i = 0; i < 2000; i++)); do
		[ ! -e "$1" ] && return
		TRACE2_RAW="$tmp/short" ./server 0 >/dev/null
	done
	false
}
if [ "$(id -u)" -eq 0 ]; then
	: >"$rings/${name}6.ring"
	chown 65533 "$rings/${name}6.ring"
fi
served_beside()
{
	rm -f trace
	TRACE2_RAW="$tmp/trace" timeout 60 ./server 1 >said
}
check "other files do no harm" served_beside
for i in 1 2 3 4; do
	check "no ring file, ${name}$i, is not touched" [ -e "$rings/${name}$i.ring" ]
done
check "what a link leads to is not touched" [ "$(cat target)" = precious ]
check "an empty file of a ring's name goes" gone "$rings/${name}5.ring"
check "a file of another name stays" [ -e "$rings/trace2-notes.ring" ]
[ "$(id -u)" -ne 0 ] || check "another user's file stays" [ -e "$rings/${name}6.ring" ]
rm -rf "$rings/$name"*

check "what is not written stays" [ -e "$killed" ]
shown=$("$out/t2expand" --recover="$killed" --format=event killed.tlg 2>/dev/null | grep -c '"key":"work"')
check "and is recovered: $shown" [ "$shown" -eq 100 ]
rm -f "$rings"/*.ring

# ---- a process that may not remove its own -----------------------------------------------------------
cat >drops.c <<'END'
#include <stdlib.h>
#include <unistd.h>
#include "trace2.h"
int main(void)
{
	trace2_initialize();
	for (int i = 0; i < 10000; i++)
		trace2_data_intmax("drops", NULL, "work", i);
	return setgid(65534) || setuid(65534);
}
END
${CC:-cc} -O2 -I"$top/runtime" -o drops drops.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "drops.c"
if [ "$(id -u)" -eq 0 ]; then
	TRACE2_RAW="$tmp/drops.tlg" ./drops
	ring=$(echo "$rings"/*.ring)
	check "its ring file stays, and holds one chunk: $(du -k "$ring") KiB" [ "$(du -k "$ring" | cut -f1)" -lt 160 ]
	rm -f drops.tlg
	"$out/t2expand" --recover="$ring" --delete -o out.txt 2>err
	none "nothing is missing in it" "$(grep missing err)"
	check "it says that it is complete" grep -q 'is complete: nothing is left here' err
	check "recovery removes it, too" [ "$(ring_files)" -eq 0 ]
fi

# ---- who lives ---------------------------------------------------------------------------------------
cat >idle.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include "trace2.h"
int main(void)
{
	trace2_initialize();
	trace2_data_intmax("idle", NULL, "work", 1);
	trace2_flush();
	puts("idle");
	fflush(stdout);
	getchar();
	trace2_data_intmax("idle", NULL, "work", 2);
	_exit(0);
}
END
${CC:-cc} -O2 -I"$top/runtime" -o idle idle.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread || fail "idle.c"
mkfifo go
TRACE2_RAW="$tmp/idle.tlg" ./idle <go >idle.out &
pid=$!
exec 3>go
for ((i = 0; i < 1000; i++)); do
	[ -s idle.out ] && break
	sleep 0.01
done
living=$(echo "$rings"/*.ring)
check "a living process has a ring file" [ -e "$living" ]
check "a server ends beside an idle process" served_beside
check "the ring file of a living process stays" [ -e "$living" ]
exec 3>&-
wait $pid
total
