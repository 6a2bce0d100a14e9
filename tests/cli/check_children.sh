#!/bin/bash
# SPDX-License-Identifier: MIT
# How long children lived, and how long their parent waited for them, in the summary: a database recomputes both from
# --format=csv, on the trace of a parent that does something between the end of each child and its exit; by --jobs, too.
# Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need sqlite3 command -v sqlite3
need jq command -v jq
expand=$out/t2expand
cd "$tmp" || exit 1

# parent N [calm]: children that end, that are killed, that are not traced, that end in a fork without another program;
# calm: only the first and the last.  The parent knows that a child is dead, and works, before it records the exit.
cat >parent.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace2.h>
#include <unistd.h>

static void be_child(int kind, const char *const *argv)
{
	if (kind == 3) {
		trace2_cmd_exit(0);
		exit(0);
	}
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

static void start(int kind, const char *self)
{
	const char *words[][3] = { { self, "end" }, { self, "kill" }, { "/bin/true" }, { "a-fork" } };
	struct trace2_child child = { .trace2_child_class = "test", .argv = words[kind] };
	siginfo_t info;
	int status;

	trace2_region_enter("parent", "starts", NULL);
	trace2_child_start(&child);
	child.pid = fork();
	if (!child.pid)
		be_child(kind, words[kind]);
	waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT);
	trace2_region_enter("parent", "works", NULL);
	trace2_region_leave("parent", "works", NULL);
	waitpid(child.pid, &status, 0);
	trace2_child_exit(&child, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	trace2_region_leave("parent", "starts", NULL);
}

int main(int argc, char **argv)
{
	trace2_initialize();
	trace2_cmd_start(argv);
	if (!strcmp(argv[1], "kill")) {
		trace2_flush();
		raise(SIGKILL);
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		start(argc > 2 ? 3 * (i % 2) : i % 4, argv[0]);
	trace2_cmd_exit(0);
	return 0;
}
END
${CC:-cc} -Wall -I"$top/runtime" -o parent parent.c -L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

cat >truth.sql <<'END'
.import --csv events.csv text_events
.import --csv summary.csv s
create table e as select rowid as n, cast(time as integer) as time, pid, sid, tid, event, cast(rel as integer) as rel, id, value,
	child_pid from text_events;
create index e_index on e (sid, tid, n);
create index e_pids on e (pid, event);
create table x as select *, (select max(p.time) from e p where p.sid = c.sid and p.pid = c.pid and p.tid = c.tid and
	p.n < c.n) as active, (select max(a.time) from e a where a.pid = c.child_pid and a.event in ('atexit', 'signal') and
	(a.sid = c.sid or a.sid like c.sid || '/%') and a.time < c.time) as ended from e c where event = 'child_exit';
select 'children: ' || count(*) from x having count(*) <> CHILDREN;
select 'ends: ' || count(*) from x where ended is not null having count(*) <> ENDS;
select 'lived ' || s.lived || ', not ' || t.lived from (select sum(lived) as lived from s where kind = 'child') s,
	(select sum(coalesce(ended - (time - rel), rel)) as lived from x) t where s.lived <> t.lived or s.lived is null;
select 'waited ' || s.waited || ', not ' || t.waited from (select sum(waited) as waited from s where kind = 'child') s,
	(select sum(min(rel, time - active)) as waited from x) t where s.waited <> t.waited or s.waited is null;
select 'lived until its exit was recorded' from s where kind = 'child' and label in ('parent', 'a-fork') and
	cast(lived as integer) >= cast(total as integer);
END
# recompute NAME CHILDREN ENDS FILES...
recompute()
{
	"$expand" --format=csv "${@:4}" >events.csv 2>csv.err
	"$expand" --summary=csv "${@:4}" >summary.csv 2>summary.err
	none "$1: as the database finds it" "$(sed "s/CHILDREN/$2/; s/ENDS/$3/" truth.sql | sqlite3 :memory: 2>&1)"
	for jobs in 2 3; do
		"$expand" --summary=csv --jobs=$jobs "${@:4}" >jobs.csv 2>jobs.err
		check "$1: the same with --jobs=$jobs" cmp -s summary.csv jobs.csv
	done
}
TRACE2_RAW=$tmp/one.tlg ./parent 40 >run.out 2>&1
recompute "one file" 40 20 one.tlg
mkdir dir
TRACE2_RAW=$tmp/dir ./parent 40 >run.out 2>&1
recompute "a file for each process" 40 20 dir
# In ranges, each of which is added up by itself
TRACE2_RAW=$tmp/large.tlg TRACE2_RAW_CYCLE=20k ./parent 400 calm >run.out 2>&1
recompute "a large file" 400 400 large.tlg
"$expand" --summary one.tlg >table 2>table.err
check "the table has both" grep -q ' total     lived    waited ' table
check "json has both" [ "$("$expand" --summary=json one.tlg 2>json.err |
	jq '[.rows[] | select(.kind == "child") | select(.lived and .waited)] | length')" -ge 3 ]
total
