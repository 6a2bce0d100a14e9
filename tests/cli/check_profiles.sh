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
total
