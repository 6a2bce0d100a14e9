#!/bin/bash
# SPDX-License-Identifier: MIT
# --profile: the samples of a program that knows how many it took, where and in which regions, as protoc decodes them;
# their names, from the program, from its debug files, from a directory of binaries, and from no other version of it;
# filters.  Ends with "N passed, N failed".
set -u
export LC_ALL=C TZ=UTC
unset GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME DEBUGINFOD_URLS

. "$(dirname "$0")/../common.sh"
need_shared_library
need g++ command -v g++
need python3 command -v python3
need protoc command -v protoc
need objcopy command -v objcopy
expand=$out/t2expand
export XDG_RUNTIME_DIR=$tmp

cd "$tmp" || exit 1
mkdir bin
g++ -Wall -g -O1 -rdynamic -Wl,--build-id -I"$top/runtime" -o bin/sampler "$top/tests/cli/sampler.cc" -L"$out" \
	-Wl,-rpath,"$out" -ltrace2 -pthread || exit 1
TRACE2_RAW=$tmp/samples.tlg bin/sampler 10 || exit 1

# show NAME OPTIONS...: the profile of that name, what t2expand says goes to `said`
show()
{
	"$expand" --format=pprof --profile="$1" "${@:2}" -o profile.pb.gz samples.tlg 2>said &&
		python3 "$top/tests/cli/profiles.py" profile.pb.gz
}

# same NAME EXPECTED TEXT
same()
{
	none "$1" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3"))"
}

in_spin='leaf (inlined) < spin < main'
types='types samples/count cpu/nanoseconds first cpu period cpu/nanoseconds 10000000'
same "cpu" "$types
5 50000000 app::Engine::wait(int) path=/b thread=th01:worker pid=number
5 50000000 $in_spin path=/a thread=main pid=number region=app/even regions=app/main;app/even
5 50000000 $in_spin path=/b thread=main pid=number region=app/odd regions=app/main;app/odd" "$(show cpu)"
none "cpu: nothing is said" "$(cat said)"
same "block" "types contentions/count delay/nanoseconds first delay period contentions/count 1
5 25000 app::Engine::wait(int) path=/a thread=th01:worker pid=number" "$(show block)"
# of an object as large as the period 1 / (1 - 1/e) = 1.582 stand for each
heap_types='alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes'
heap='app::Engine::hold() < main'
for profile in heap:inuse_space allocs:alloc_space; do
	sums=$(show "${profile%:*}" | awk '$1 != "types" { for (i = 1; i <= 4; i++) sum[i] += $i; next } 1
		END { for (i = 1; i <= 4; i++) printf "%.1f%s", sum[i] / (i % 2 ? 1 : 524288), i < 4 ? " " : "\n" }')
	same "${profile%:*}" "types $heap_types first ${profile#*:} period space/bytes 524288
16.0 15.8 10.0 9.5" "$sums"
	same "${profile%:*}: where" 2 "$(show "${profile%:*}" | grep -c " $heap path=")"
done
same "a profile of the program's own" "types files/count first files period files/count 1
1 $heap path=/a thread=main pid=number region=app/main regions=app/main" "$(show files)"
same "a profile that is not there" "types nothing/count first nothing period nothing/count 1" "$(show nothing)"
same "which is said" "t2expand: nothing: there are no samples of this profile to show" "$(cat said)"

# Filters: samples are those of the regions around them
same "--label of a region" "$types
5 50000000 $in_spin path=/b thread=main pid=number region=app/odd regions=app/odd" "$(show cpu --label=odd)"
same "--label without a region" "$types
5 50000000 $in_spin path=/b thread=main pid=number region=app/odd regions=app/main;app/odd" \
	"$(show cpu --label='!even' --thread=main)"
same "--label as recorded" "$types
5 50000000 $in_spin path=/a thread=main pid=number" "$(show cpu --label=path=/a)"
same "--category" "$types
5 50000000 app::Engine::wait(int) path=/b thread=th01:worker pid=number" "$(show cpu --category='!app')"
"$expand" --format=csv samples.tlg >rows.csv
start=$(sed -n '2s/,.*//p' rows.csv)
end=$(awk -F, '$6 == "sample" && $5 == "main" { n++ } n == 4 { print $1; exit }' rows.csv)
same "--until" 3 "$(show cpu --thread=main --until="+$((end - start))ns" |
	awk '$1 != "types" { n += $1 } END { print n }')"

# How long it took: the process that ran last stands in front in the file
TRACE2_RAW=$tmp/later.tlg bin/sampler 10 || exit 1
cat later.tlg samples.tlg >both.tlg
"$expand" --format=csv both.tlg | sed 1d | cut -d, -f1 | sort >times
for options in "" --profile=cpu; do
	"$expand" --format=pprof $options -o both.pb.gz both.tlg
	same "time and duration of a profile of two processes $options" \
		"$(head -n 1 times) $(($(tail -n 1 times) - $(head -n 1 times)))" \
		"$(gunzip <both.pb.gz | protoc --decode_raw | sed -n 's/^\(9\|10\): //p' | xargs)"
done

# The other formats: each sample in rows and, if asked for, in git's; what they add up to
inner='leaf < spin < main'
same "csv" "cpu,1,10000000,10000000,path=/a,5
cpu,1,10000000,10000000,path=/b,10" "$(python3 -c "
import collections, csv
rows = [row for row in csv.DictReader(open('rows.csv')) if row['event'] == 'sample' and row['category'] == 'cpu']
key = lambda row: ','.join(row[name] for name in ('category', 'count', 'value', 'period', 'labels'))
for line, n in sorted(collections.Counter(map(key, rows)).items()):
    print(line, n, sep=',')
assert sum(row['message'].startswith('$inner < ') and not row['file'] for row in rows) == 10, rows")"
"$expand" --format=ndjson samples.tlg >rows.json
check "ndjson" [ "$(grep -c '"event":"sample","category":"cpu".*"message":"leaf < spin < main' rows.json)" -eq 10 ]
for format in normal perf event; do
	same "$format without samples" 0 "$("$expand" --format=$format samples.tlg | grep -c sample.*block)"
	"$expand" --format=$format --samples samples.tlg >text
	same "$format --samples" 35 "$(grep -c 'count"*:-*1' text)"
done
check "event: labels, stack" grep -q \
	'"category":"cpu","count":1,"value":10000000,"period":10000000,"labels":{"path":"/a"},"stack":\["leaf","spin","main"' text
"$expand" --format=perf --samples samples.tlg >text
check "perf: a line" grep -qF "| cpu          | ....count:1 value:10000000 path=/a stack:$inner <" text
same "folded" "main;app::Engine::hold() 10
main;spin;leaf 100000000
work(void*);app::Engine::wait(int) 50000000" "$({ "$expand" --format=folded --profile=cpu samples.tlg
	"$expand" --format=folded --profile=heap samples.tlg | awk '{ $NF = int($NF / 497652 + 0.5) } 1'; } |
	sed -E 's/.*(main;|work)/\1/' | sort)"
same "--summary" "profile,,\"\",\"block\",\"\",5,25000
profile,,\"\",\"cpu\",\"\",15,150000000
profile,,\"\",\"files\",\"\",1,0
profile,,\"\",\"heap\",\"\",10,5242880
function,,\"\",\"\",\"app::Engine::wait(int)\",5,50000000
function,,\"\",\"app/even\",\"leaf\",5,50000000
function,,\"\",\"app/odd\",\"leaf\",5,50000000" \
	"$("$expand" --summary=csv --sort=name samples.tlg | grep -E '^(profile|function)' | cut -d, -f1-7)"
check "the summary's table" grep -qE ' 5 +50.0 ms +app/even +leaf$' <("$expand" --summary samples.tlg)
check "times of profiles have units" grep -qE "^ +5 +25.0 us  block\$" <("$expand" --summary samples.tlg)
check "--summary --jobs is the same" cmp -s <("$expand" --summary samples.tlg) <("$expand" --summary --jobs=3 samples.tlg)
"$expand" --diff samples.tlg samples.tlg >text
none "--diff: nothing differs" "$(grep -E 'profile|function' text)"
"$expand" --format=chrome samples.tlg >chrome.json
check "chrome" python3 -c "
import json
events = [e for e in json.load(open('chrome.json'))['traceEvents'] if e['cat'] == 'cpu' and e['name'] == 'leaf']
assert len(events) == 10 and all(e['args']['stack'][:3] == ['leaf', 'spin', 'main'] for e in events), events"
"$expand" --format=firefox samples.tlg >firefox.json
check "firefox: a thread of its samples" python3 -c "
import json
profile = json.load(open('firefox.json'))
shared, thread = profile['shared'], [t for t in profile['threads'] if t['name'] == 'main: CPU'][0]
names = [shared['stringArray'][shared['funcTable']['name'][func]] for func in shared['frameTable']['func']]
innermost = [names[shared['stackTable']['frame'][stack]] for stack in thread['samples']['stack']]
assert innermost == ['leaf'] * 10 and thread['samples']['weight'] == [10.0] * 10, (innermost, thread['samples'])
names = [t['name'] for t in profile['threads']]
assert names == ['main', 'main: CPU', 'main: Heap', 'main: files', 'th01:worker', 'th01:worker: CPU', 'th01:worker: Blocked']
threads = dict(zip(names, profile['threads']))
assert threads['main: files']['samples']['weightType'] == 'samples' and threads['main: files']['samples']['weight'] == [1]
assert threads['th01:worker: Blocked']['samples']['weight'] == [0.005] * 5
heap = threads['main: Heap']['nativeAllocations']
assert [weight > 0 for weight in heap['weight']] == [True] * 10 + [False] * 4 and heap['weightType'] == 'bytes'
assert threads['main: Heap']['samples']['length'] == 0"
same "--debug=1" "cpu profile: total 15" "$("$expand" --format=pprof --profile=cpu --debug=1 samples.tlg | head -1)"
check "--debug=1 has names" grep -qE '^#	0x[0-9a-f]+	leaf	.*sampler\.cc:[0-9]+$' \
	<("$expand" --format=pprof --profile=cpu --debug=1 samples.tlg)
if command -v babeltrace2 >/dev/null; then
	mkdir ctf
	"$expand" --format=ctf samples.tlg | tar -xC ctf
	check "ctf" [ "$(babeltrace2 ctf | grep -c 'sample: .*count = 1, value = 10000000, period = 10000000, .*stack = "leaf;spin;main')" -eq 10 ]
fi

# Names: without the program, of another version of it, from its debug file, from a directory of binaries
unnamed="$types
5 50000000 ? path=/b thread=th01:worker pid=number
5 50000000 ? path=/a thread=main pid=number region=app/even regions=app/main;app/even
5 50000000 ? path=/b thread=main pid=number region=app/odd regions=app/main;app/odd"
named()
{
	show cpu "$@" | grep -c "5 50000000 $in_spin path=/[ab] thread=main"
}
mkdir -p debug host/"$tmp"/bin flat
build_id=$(readelf -n bin/sampler | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug bin/sampler sampler.debug
mv bin/sampler whole
same "the program is gone" "$unnamed" "$(show cpu)"
sed 's/10000000, 10000000/10000001, 10000000/' "$top/tests/cli/sampler.cc" >other.cc
g++ -g -O1 -rdynamic -Wl,--build-id -I"$top/runtime" -o bin/sampler other.cc -L"$out" -ltrace2 -pthread || exit 1
same "another version of the program is not taken" "$unnamed" "$(show cpu)"
check "which is said once" \
	[ "$(grep -c "bin/sampler: another build-id than the trace's, $build_id: its names are not used" said)" -eq 1 ]
mkdir -p "debug/.build-id/${build_id:0:2}"
cp sampler.debug "debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
same "only the debug file is there" 2 "$(named --debug-dir=debug)"
objcopy --strip-all whole bin/sampler
same "stripped" 0 "$(show cpu | grep -c "$in_spin")"
same "stripped, with its debug file" 2 "$(named --debug-dir=debug)"
rm bin/sampler
cp whole host/"$tmp"/bin/sampler
same "--binaries=DIR has its path" 2 "$(named --binaries=host)"
cp whole flat/sampler
same "--binaries=DIR has its name" 2 "$(named --binaries=flat)"
rm -r flat host

# Separate debug files where distributions put them: of a stripped program, of one that is gone
if unshare -rm mount --bind debug /usr/lib/debug 2>/dev/null; then
	# installed OPTIONS...: as named, with ours in place of the host's
	installed()
	{
		unshare -rm bash -c 'mount --bind debug /usr/lib/debug && "$@"' - \
			"$expand" --format=pprof --profile=cpu -o profile.pb.gz samples.tlg 2>said
		python3 "$top/tests/cli/profiles.py" profile.pb.gz | grep -c "5 50000000 $in_spin path=/[ab] thread=main"
	}
	same "gone, its debug file in /usr/lib/debug" 2 "$(installed)"
	objcopy --strip-all whole bin/sampler
	same "stripped, its debug file in /usr/lib/debug" 2 "$(installed)"
	rm bin/sampler
else
	echo "no mount namespaces: /usr/lib/debug is not tried"
fi

# Servers: DEBUGINFOD_URLS alone asks nobody.  A directory is one, too: libcurl reads files.
export DEBUGINFOD_CACHE_PATH=$tmp/cache DEBUGINFOD_URLS=file://$tmp/served
if ldconfig -p | grep -q 'libdebuginfod\.so\.1'; then
	mkdir -p "served/buildid/$build_id"
	cp sampler.debug "served/buildid/$build_id/debuginfo"
	same "gone, and a server has it: nobody asks" "$unnamed" "$(show cpu)"
	check "nobody did" [ ! -e cache ]
	same "gone, --debuginfod" 2 "$(named --debuginfod)"
	rm -r cache
	same "gone, --debuginfod without a server" "$unnamed" "$(DEBUGINFOD_URLS='' show cpu --debuginfod)"
	objcopy --strip-all whole bin/sampler
	same "stripped, and a server has it: nobody asks" 0 "$(show cpu | grep -c "$in_spin")"
	same "stripped, --debuginfod" 2 "$(named --debuginfod)"
	rm -rf cache bin/sampler
	mv "served/buildid/$build_id/debuginfo" elsewhere
	cp whole "served/buildid/$build_id/executable"
	same "gone, a server has the program only" 2 "$(named --debuginfod)"
	rm -rf cache
	g++ -g -O1 -Wl,--build-id -o "served/buildid/$build_id/executable" -x c++ - <<<'int main() { return 0; }'
	same "gone, a server has another program" "$unnamed" "$(show cpu --debuginfod)"
	check "which is said" grep -q "bin/sampler: another build-id than the trace's" said
	rm -rf cache served
	same "gone, the server has nothing" "$unnamed" "$(show cpu --debuginfod)"
else
	echo "no libdebuginfod: servers are not tried"
fi
total
