#!/bin/bash
# SPDX-License-Identifier: MIT
# What the library offers, and what it needs of libc.
#   1. trace2.h, and record/tr2_sample.h for libtrace2-prof, declare == trace2.map lists == the shared library exports
#   2. other global symbols of an object begin with its directory's prefix
#   3. the library calls nothing but what is listed below: abort, exit, printf, assert, and whatever else
#      could end, block or write to the traced program, cannot slip in; nor, where it makes its system calls itself, can
#      a function of libc that is one
#   4. libtrace2-prof: trace2_prof.h declares == trace2_prof.map lists == it exports with a version; what it exports
#      without one stands in front of a function of libc, or of an operator new or delete
#   5. the loader resolves all names of both libraries when it loads them: later a handler would, and on x86 the loader
#      then saves the registers of vectors, 2.6 KiB with AVX-512, on what may be a small signal stack
#   6. in these folders of expand/ nobody calls in a circle: a value goes one way through them
# Ends with "N passed, N failed".
set -u

. "$(dirname "$0")/../common.sh"
export LC_ALL=C

# What runtime/ and format/ may call: libc by subject, the compiler's own, ThreadSanitizer's where it is (and then
# pthread_sigmask(), which it stands in front of: base/tr2_tsan.h), liburcu, lz4, libmd.  write() is in the part of the
# expander that is linked in, for its files; live texts do not come there.
allowed='
memchr memcmp memcpy strndup memmove memset strchr strcmp strcpy strcspn strdup strlen strncmp strnlen strrchr strspn
strstr strncasecmp sigabbrev_np strncpy strftime strerror strerrordesc_np __isoc99_sscanf strcasecmp strtol strtoul strtoull strtoll stpcpy memrchr fnmatch strerror_r __xpg_strerror_r tolower toupper
snprintf vsnprintf __errno_location __ctype_b_loc __ctype_tolower_loc environ
malloc calloc aligned_alloc realloc free getauxval posix_fallocate time localtime_r gmtime_r
getenv setenv putenv secure_getenv gethostname getrandom syscall sysconf
sigaction sigemptyset sigaddset raise write
atexit __cxa_atexit __cxa_finalize pthread_atfork __register_atfork
pthread_create pthread_setcancelstate pthread_join pthread_self pthread_once pthread_attr_init pthread_attr_destroy
pthread_attr_setstacksize pthread_attr_setdetachstate pthread_detach pthread_setname_np
pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock
pthread_mutex_clocklock pthread_mutex_unlock pthread_mutex_consistent
pthread_mutexattr_init pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_destroy
pthread_cond_init pthread_cond_destroy pthread_cond_signal pthread_cond_wait pthread_cond_timedwait
pthread_cond_clockwait pthread_condattr_init pthread_condattr_setclock pthread_condattr_destroy
pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific pthread_setcancelstate
sigismember __libc_current_sigrtmin __libc_current_sigrtmax
sem_init sem_post sem_wait sem_timedwait sem_clockwait sem_destroy
_GLOBAL_OFFSET_TABLE_ __stack_chk_fail __tls_get_addr __cpu_model __x86_get_cpuid_feature_leaf __divti3 __udivti3 __udivmodti4
AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd pthread_sigmask
urcu_* rcu_* cds_* __cds_* LZ4_* LZ4F_* SHA1* _ITM_* __gmon_start__
'

# What base/tr2_sys.c calls where it does not make system calls itself
calls='
mmap munmap madvise mprotect getdents64 readlink open close read write fstat stat statfs ftruncate unlink fchmod fcntl
lseek mremap munlock poll ppoll socket connect send memfd_create nanosleep clock_gettime getpid getppid getrlimit prctl
sched_yield sched_getscheduler sched_setscheduler sched_getaffinity sched_setaffinity
sigpending sigtimedwait sigaltstack
'
case $(${CC:-cc} -dumpmachine) in
x86_64-* | aarch64-*) ;;
*) allowed+=$calls ;;
esac

# differ A B: lines that only one of two sorted lists has
differ()
{
	comm -23 "$1" "$2" | sed 's/$/ only in the first/'
	comm -13 "$1" "$2" | sed 's/$/ only in the second/'
}

# Names that end in _ are the header's own inline helpers.
${CC:-cc} -E -P runtime/trace2.h >"$tmp/header.i" || exit 1
# For libtrace2-prof: what it declares itself
grep -v '^#include "' runtime/record/tr2_sample.h | ${CC:-cc} -E -P -x c - >>"$tmp/header.i" || exit 1
{
	grep -oE '\b(trace2|tr2)_[a-z0-9_]*[a-z0-9] *\(' "$tmp/header.i" | grep -oE '^[a-z0-9_]+'
	grep -E '^extern ' "$tmp/header.i" | grep -oE '\b(trace2|tr2)_[a-z0-9_]*_v[0-9]+\b'
} | sort -u >"$tmp/header"
grep -oE '^	[a-z0-9_]+;' runtime/trace2.map | tr -d '\t;' | sort >"$tmp/map"
differ "$tmp/header" "$tmp/map" >"$tmp/offences"
none "trace2.h and trace2.map" "$(cat "$tmp/offences")"

if [ -e "$out/libtrace2.so.0" ]; then
	nm -D --defined-only "$out/libtrace2.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		sort >"$tmp/exports"
	differ "$tmp/map" "$tmp/exports" >"$tmp/offences"
	none "trace2.map and the exports of libtrace2.so.0" "$(cat "$tmp/offences")"
fi

# nm prints NAME@@VERSION
${CC:-cc} -E -P runtime/trace2_prof.h | grep -v '^typedef' | grep -oE '\btrace2_pp?rof_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$tmp/header"
grep -oE '^	[a-z0-9_]+;' runtime/trace2_prof.map | tr -d '\t;' | sort >"$tmp/map"
differ "$tmp/header" "$tmp/map" >"$tmp/offences"
none "trace2_prof.h and trace2_prof.map" "$(cat "$tmp/offences")"
check "trace2_prof.h has functions" [ -s "$tmp/header" ]

if [ -e "$out/libtrace2-prof.so.0" ]; then
	nm -D --defined-only "$out/libtrace2-prof.so.0" | awk '$2 != "A" { print $3 }' | sort >"$tmp/all"
	sed -n 's/@@TRACE2_PROF_.*//p' "$tmp/all" >"$tmp/exports"
	differ "$tmp/map" "$tmp/exports" >"$tmp/offences"
	none "trace2_prof.map and the exports of libtrace2-prof.so.0" "$(cat "$tmp/offences")"
	grep -v @ "$tmp/all" >"$tmp/exports"
	check "libtrace2-prof.so.0 stands in front of malloc()" grep -qx malloc "$tmp/exports"
	nm -D --defined-only "$(${CC:-cc} -print-file-name=libc.so.6)" | awk '{ sub(/@.*/, "", $3); print $3 }' |
		sort -u | comm -23 "$tmp/exports" - | grep -vE '^_Z(n|d)(w|a|l)|^__asan_default_options$' >"$tmp/offences"
	none "exports of libtrace2-prof.so.0 that are in front of nothing" "$(cat "$tmp/offences")"
fi

for library in "$out"/libtrace2.so.0 "$out"/libtrace2-prof.so.0; do
	[ ! -e "$library" ] || check "${library##*/} is linked with -z now" grep -q 'FLAGS_1.* NOW' <(readelf -dW "$library")
done

# The objects of these directories, of sources that there are: a build may also have some of sources that are gone.
objects()
{
	local dir object source

	for dir; do
		find "$out/obj/$dir" -name "*.o" ! -path "*/examples/*" ! -path "*/prof/*"
	done | while read -r object; do
		source=${object#"$out"/obj/}
		[ ! -e "${source%.o}.c" ] || echo "$object"
	done
}

# Prefixes of what the objects of a directory may define
prefixes()
{
	case $1 in
	format) echo '^(tlg|TLG)_' ;;
	runtime) echo '^(tr2|trace2)_' ;;
	expand) echo '^(t2x_|main$)' ;;
	esac
}
for dir in format runtime expand; do
	nm -g --defined-only $(objects "$dir") | awk 'NF == 3 { print $3 }' |
		grep -vE "$(prefixes $dir)" | grep -v '^__\(asan\|tsan\|odr_asan\)' | sort -u >"$tmp/offences"
	none "prefixes in $dir/" "$(cat "$tmp/offences")"
done

# With what of the expander is in the library; all of it when this script is run by hand.
set -- $(objects runtime format) ${T2_LIVE:-$(objects expand)}
nm -g --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u >"$tmp/defined"
nm -u "$@" | awk 'NF == 2 { print $2 }' | sort -u >"$tmp/undefined"
# with 64-bit sizes everywhere open is called open64, and so on
comm -13 "$tmp/defined" "$tmp/undefined" | grep -vE '^__(asan|tsan|ubsan)' |
	sed -E 's/^(fcntl|fstat|ftruncate|getrlimit|lseek|lstat|mmap|open|posix_fallocate|pread|pwrite|stat|statvfs)64$/\1/' >"$tmp/needed"
set -f
for word in $allowed; do
	printf '%s\n' "$word"
done | sed 's/\*/.*/; s/.*/^&$/' >"$tmp/patterns"
set +f
grep -vE -f "$tmp/patterns" "$tmp/needed" >"$tmp/offences"
none "what the library calls" "$(cat "$tmp/offences")"

# "caller called", from the names that objects define and need
calls()
{
	nm -A -g $(objects "$1") | awk '{ sub(/:$/, "", $1); sub(/:[0-9a-f]*$/, "", $1); name = $NF; kind = $(NF - 1) }
		kind == "U" { needs[$1 " " name] = name; next } { defines[name] = $1 }
		END { for (i in needs) { split(i, by, " "); if (needs[i] in defines) print by[1], defines[needs[i]] } }'
}
for dir in model merge parallel profile; do
	calls "expand/$dir" >"$tmp/calls"
	check "expand/$dir/: calls between its objects are found" [ -s "$tmp/calls" ]
	tsort "$tmp/calls" 2>&1 >/dev/null | sed "s#.*/obj/##; s#.*: input.*##; /^\$/d" >"$tmp/offences"
	none "expand/$dir/: nobody calls in a circle" "$(cat "$tmp/offences")"
done

total
