#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that rotates its trace while regions are open in its threads is one process in each format, and each of its
# threads is one: a region that one file enters and another one leaves is one region, in the stack that it was in.  Where
# a file in the middle is missing, no region gets the name of another one.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME

. "$(dirname "$0")/../common.sh"
need_shared_library
need jq command -v jq
expand=$out/t2expand
cd "$tmp" || exit 1

cat >rotates.c <<'EOF2'
#include <pthread.h>
#include <trace2.h>

static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
static pthread_barrier_t turn;
static int rotates;

static void work(int depth, int deepest, int round)
{
	const char *name = names[(depth + round) % 8];

	trace2_region_enter("c", name, NULL);
	trace2_data_intmax("c", NULL, "depth", depth);
	if (depth < deepest) {
		work(depth + 1, deepest, round);
	} else {
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
		trace2_data_intmax("c", NULL, "behind", depth);
	}
	trace2_region_leave("c", name, NULL);
}

/* The second of three never leaves its outermost region. */
static void *run(void *number)
{
	static const char *const workers[] = { "one", "two", "three" };
	int n = *(int *)number;

	trace2_thread_start(workers[n]);
	trace2_region_enter("c", "life", NULL);
	for (int i = 0; i < 6; i++)
		work(0, n + i % 3, i);
	if (n != 1)
		trace2_region_leave("c", "life", NULL);
	trace2_thread_exit();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int numbers[3] = { 0, 1, 2 };

	rotates = argc > 1;
	trace2_initialize();
	trace2_cmd_start((const char *const *)argv);
	trace2_region_enter("c", "whole", NULL);
	trace2_region_enter("c", "forgotten", NULL);
	pthread_barrier_init(&turn, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, &numbers[i]);
	for (int i = 0; i < 6; i++) {
		pthread_barrier_wait(&turn);
		if (rotates)
			trace2_rotate();
		pthread_barrier_wait(&turn);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	trace2_cmd_exit(0);
	return 0;
}
EOF2
${CC:-cc} -I"$top/runtime" -o rotates rotates.c -pthread -L"$out" -ltrace2 -Wl,-rpath,"$out" || exit 1
mkdir many one
TRACE2_RAW=$tmp/many timeout 60 ./rotates often && TRACE2_RAW=$tmp/one timeout 60 ./rotates || exit 1
check "seven files" [ "$(ls many | wc -l)" = 7 ]

# ---- one process, one thread, one region ---------------------------------------------------------------
for dir in many one; do
	"$expand" --format=chrome $dir >$dir.json
	for kind in process_name thread_name; do
		jq -r ".traceEvents[] | select(.name == \"$kind\") | .args.name" $dir.json
	done | sed 's/th0[1-3]//' | sort >$dir.named
	jq -r '.traceEvents[] | select(.ph == "X") | .name + ": " + (.args.end // "left")' $dir.json | sed 's/th0[1-3]//' | sort >$dir.spans
	"$expand" --format=folded $dir >$dir.folded
	sed 's/ [0-9]*$//' $dir.folded | sort >$dir.stacks
	"$expand" --format=otlp $dir | jq -r '.resourceSpans[].resource.attributes[] | select(.key == "process.pid") | .value.intValue' |
		sort -u | wc -l >$dir.otlp
	"$expand" --summary=csv $dir >$dir.csv
	cut -d, -f1,4-6 $dir.csv | grep -E '^(region|never_left|data|thread),' | sed 's/th0[1-3]//' | sort >$dir.counts
	"$expand" --format=perf --max-depth=3 --event='region_*,data' $dir | cut -d'|' -f3,4,8- |
		sed 's/th0[1-3]//' | sort >$dir.perf
done
none "chrome: processes and threads" "$(diff one.named many.named)"
none "chrome: regions, and how each ended" "$(diff one.spans many.spans)"
none "folded: stacks" "$(diff one.stacks many.stacks)"
none "otlp: processes" "$(diff one.otlp many.otlp)"
none "summary: how often, and what is never left" "$(diff one.counts many.counts)"
none "filters" "$(diff one.perf many.perf)"
none "what is never left: once" "$(diff - <(grep ^never_left many.csv | cut -d, -f4,6) <<'END'
"c/forgotten",1
"c/life",1
"c/whole",1
END
)"
"$expand" --summary=csv --jobs=3 many >jobs.csv
check "and with --jobs" cmp -s many.csv jobs.csv

# The time of a region is that of its own and of all that is in it, to the nanosecond.
total=$(awk -F, '$1 == "region" && $5 == "\"life\"" { print $7 }' many.csv)
sum=$("$expand" --format=folded '--thread=*:one' '--thread=*:three' many | awk '/^life/ { sum += $NF } END { print sum }')
check "times add up: $total, $sum" [ "${total:-0}" = "${sum:-1}" ]

# ---- files that are missing ------------------------------------------------------------------------------
cat >moves.c <<'EOF2'
#include <trace2.h>

int main(int argc, char **argv)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	(void)argc;
	trace2_initialize();
	trace2_cmd_start((const char *const *)argv);
	trace2_region_enter("c", "outer", NULL);
	for (int i = 0; i < 4; i++) {
		trace2_region_enter("c", names[i], NULL);
		trace2_data_intmax("c", NULL, "before", i);
		trace2_rotate();
		trace2_data_intmax("c", NULL, "behind", i);
		trace2_region_leave("c", names[i], NULL);
	}
	trace2_region_leave("c", "outer", NULL);
	trace2_cmd_exit(0);
	return 0;
}
EOF2
${CC:-cc} -I"$top/runtime" -o moves moves.c -L"$out" -ltrace2 -Wl,-rpath,"$out" || exit 1
mkdir gap
TRACE2_RAW=$tmp/gap ./moves || exit 1
check "the second file" rm gap/*.1.tlg
"$expand" --format=chrome gap | jq -r '.traceEvents[] | select(.ph == "X") | .name + ": " + (.args.end // "left")' >gap.spans
none "a region that was left unseen does not get the times of the next one" "$(diff - gap.spans <<'END'
a: missing
b: left
c: left
d: left
outer: left
main: left
END
)"
none "nor with a filter" "$(diff - <("$expand" --format=chrome --label=a --label=c gap | jq -r '.traceEvents[] | select(.ph == "X") | .name' | sort) <<'END'
a
c
main
END
)"
"$expand" --summary=csv gap >gap.csv
none "the summary counts what it saw" "$(diff - <(grep ^region gap.csv | cut -d, -f5,6 | sort) <<'END'
"a",0
"b",1
"c",1
"d",1
"outer",1
END
)"
none "and nothing is said to be never left" "$(grep ^never_left gap.csv)"

cp -r gap rest
check "the first file" rm rest/*-P????????.tlg
"$expand" --format=perf rest | cut -d'|' -f4,9 | tr -d ' ' | head -n 5 >rest.perf
none "what was open where the first of the other files begins is shown there" "$(diff - rest.perf <<'END'
region_enter|label:outer
region_enter|..label:b
data|....behind:1
region_leave|..label:b
region_enter|..label:c
END
)"
total
