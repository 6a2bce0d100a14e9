#!/bin/bash
# SPDX-License-Identifier: MIT
# Git and a program of ours that makes the same calls, with the same settings, side by side: the same files with
# the same names, the same text in them, the same warnings.  The installed git is asked, of whatever version.
# Masked are times, process ids, the caller's file and line, the format's version, and the scope of environment
# variables in def_param, which changed from "unknown" to "command".  Left out is what ours says with DST_DEBUG, and git
# does not, of a setting that means nothing: what it does then is the same.
# A case is named by its second word; trace2-env.7 refers to these names.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_shared_library
need git git version
version=$(git version)
version=${version#git version }
# The directory of a run.  Both programs get the same one, for it is in their messages.
run=$tmp/run

# What `git version` calls
cat >"$tmp/program.c" <<'END'
#include <stdlib.h>
#include <trace2.h>

int main(int argc, char **argv)
{
	const char *name = "git";

	argv[0] = (char *)name;
	trace2_set_env_prefix("GIT_TRACE2");
	trace2_use_git_config();
	trace2_set_program_version(GIT_VERSION);
	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_collect_process_info(TRACE2_PROCESS_INFO_STARTUP);
	if (argc > 1)
		trace2_cmd_name(argv[1]);
	if (getenv("CHILD") && system(getenv("CHILD")))
		return 1;
	trace2_cmd_exit(0);
	return 0;
}
END
${CC:-cc} -I"$top/runtime" -DGIT_VERSION="\"$version\"" -o "$tmp/program" "$tmp/program.c" \
	-L"$out" -Wl,-rpath,"$out" -ltrace2 || exit 1

# listener stream|dgram|gone PATH OUT: listens at PATH (gone: no more), then puts what one process sends into OUT, each datagram followed
# by "--".  Ends with that process: with the stream, or behind its last event.
cat >"$tmp/listener.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int type = argc == 4 && !strcmp(argv[1], "dgram") ? SOCK_DGRAM : SOCK_STREAM;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int in = socket(AF_UNIX, type, 0);
	static char data[1 << 16];
	FILE *out = argc == 4 ? fopen(argv[3], "w") : NULL;
	ssize_t n;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argc == 4 ? argv[2] : "");
	if (!out || bind(in, (struct sockaddr *)&address, sizeof(address)) || (type == SOCK_STREAM && listen(in, 1)))
		return 1;
	if (!strcmp(argv[1], "gone") || fork())
		return 0;   /* it listens: who started this may go on */
	if (type == SOCK_STREAM)
		in = accept(in, NULL, NULL);
	while ((n = recv(in, data, sizeof(data) - 1, 0)) > 0) {
		data[n] = '\0';
		fprintf(out, type == SOCK_DGRAM ? "%s--\n" : "%s", data);
		if (type == SOCK_DGRAM && strstr(data, "atexit"))
			break;
	}
	return fclose(out);
}
END
${CC:-cc} -o "$tmp/listener" "$tmp/listener.c" || exit 1

mask()
{
	sed -E -e 's/[0-9]{8}T[0-9]{6}\.[0-9]{6}Z/DATE/g; s/-P[0-9a-f]{8}/-PID/g' \
		-e 's/"time":"[^"]*Z"/"time":"T"/; s/^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} /T /' \
		-e 's/^T [^ ]+ +/T PLACE /; s/"file":"[^"]*","line":[0-9]+/PLACE/' \
		-e 's/[ 0-9]+\.[0-9]{6}/SECONDS/g; s/"evt":"."/EVT/' \
		-e '/def_param/s/scope:(unknow|comman)n?d?/SCOPE/; /def_param/s/"(unknown|command)"/SCOPE/' \
		-e "/^warning: trace2: .*, using '.*'\$/d"
}

# In the directory of a run: a listener at the socket "socket", whose lines come into the file "got".  As long as it
# runs it holds a lock.
listen()
{
	flock 8
	"$tmp/listener" "$1" socket got </dev/null >/dev/null 2>&1
} 8>"$tmp/busy"

# Run program $1 in a directory that $2 has prepared, with the settings and then, behind --, the arguments.
# Every file that there is afterwards is printed.
record()
{
	local program=$1 prepare=$2 settings=() file

	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		settings+=("${1//@/$run}")
		shift
	done
	[ $# -gt 0 ] && shift
	rm -rf "$run"
	mkdir -p "$run/dir"
	(cd "$run" && eval "$prepare") || return 1
	(cd / && exec env -i PATH="$PATH" HOME="$run" GIT_CONFIG_NOSYSTEM=1 "${settings[@]}" "$program" version "$@") \
		>"$run/stdout" 2>"$run/stderr" </dev/null 9>&-
	flock "$tmp/busy" true   # a listener has ended
	[ "$program" = git ] && sed -i '/^git version/d' "$run/stdout"
	(cd "$run" && find . -type f | sort) | while read -r file; do
		echo "== ${file#./}"
		cat "$run/$file"
	done | mask
}

# compare NAME PATTERN PREPARE SETTING... [-- ARGUMENT...]: both the same, and in it a line with the pattern;
# with a pattern "!X" none with X.  @ in a setting is the directory of the run.
compare()
{
	local name=$1 pattern=$2 sign=

	shift 2
	[ "${pattern#!}" = "$pattern" ] || sign=!
	record git "$@" >"$tmp/git.txt"
	record "$tmp/program" "$@" >"$tmp/ours.txt"
	if cmp -s "$tmp/git.txt" "$tmp/ours.txt" && eval "$sign grep -q -- '${pattern#!}' '$tmp/git.txt'"; then
		pass
	else
		fail "$name, $* (left: git $version)"
		diff "$tmp/git.txt" "$tmp/ours.txt"
	fi
}

# Something is traced; or nothing, with a warning; or not even that
same()
{
	compare "$1" atexit "${@:2}"
}
warned()
{
	compare "$1" '^warning: ' "${@:2}"
}
quiet()
{
	compare "$1" '!atexit\|warning' "${@:2}"
}

# Lines of the configuration below [trace2]
config()
{
	printf '%s' "{ echo '[trace2]'; printf '%s\n' $*; } >.gitconfig"
}

debug=GIT_TRACE2_DST_DEBUG=1
long=/$(printf '%0300d' 0)

# ---- targets, brief forms ---------------------------------------------------------------------------
targets=('GIT_TRACE2=@/normal' 'GIT_TRACE2_PERF=@/perf' 'GIT_TRACE2_EVENT=@/event')
same targets : "${targets[@]}"
for value in 1 yes true on TRUE 0 no off False 2 -1 0x10 0x 010 1k 0k 1x x ' 1' '1 ' ''; do
	same brief : "${targets[@]}" GIT_TRACE2_BRIEF="$value" GIT_TRACE2_PERF_BRIEF="$value" GIT_TRACE2_EVENT_BRIEF="$value"
done

# ---- destinations -----------------------------------------------------------------------------------
for value in 1 true True 2; do
	same stderr : GIT_TRACE2="$value"
done
for value in 0 false FALSE ''; do
	quiet off : GIT_TRACE2_PERF="$value" $debug
done
same append 'echo first >log' GIT_TRACE2_PERF=@/log
same directory : GIT_TRACE2_EVENT=@/dir
same collision : GIT_TRACE2=@/dir GIT_TRACE2_PERF=@/dir GIT_TRACE2_EVENT=@/dir
for value in relative 10 01 on yes ' 1' af_uni; do
	warned unknown : GIT_TRACE2_PERF="$value"
done
for value in @/none/log @/stdout/log /proc "$long" \
	af_unix:relative af_unix:other:/x "af_unix:$long" \
	af_unix:@/none af_unix:stream:@/none af_unix:dgram:@/none; do
	warned failure : GIT_TRACE2_EVENT="$value" $debug
	warned failure : GIT_TRACE2_EVENT="$value" GIT_TRACE2_DST_DEBUG=2x
	for off in 0 -1 true ''; do
		quiet failure : GIT_TRACE2_EVENT="$value" GIT_TRACE2_DST_DEBUG="$off"
	done
done
for type in stream dgram; do
	for target in GIT_TRACE2 GIT_TRACE2_PERF GIT_TRACE2_EVENT; do
		for form in "$type:" ''; do
			same socket "listen $type" "$target=af_unix:$form@/socket" $debug
		done
	done
done
for form in '' stream: dgram:; do
	warned socket "listen gone" "GIT_TRACE2=af_unix:$form@/socket" $debug
done
quiet closed : GIT_TRACE2=9
warned closed : GIT_TRACE2=9 $debug
# One target at a time: git hands its own warning to the other targets, as an error of the command
for target in GIT_TRACE2 GIT_TRACE2_PERF GIT_TRACE2_EVENT; do
	warned write_failure : $target=/dev/full $debug
	quiet write_failure : $target=/dev/full
done
warned write_failure "$(config normalTarget=/dev/full destinationDebug=1)"

# ---- a directory with too many files ----------------------------------------------------------------
for value in 3 4 5 4x; do
	same max_files 'touch dir/a dir/b' GIT_TRACE2_MAX_FILES=$value GIT_TRACE2_EVENT=@/dir $debug
done
for value in 0 -1 x ''; do
	same max_files 'touch dir/a dir/b' GIT_TRACE2_MAX_FILES="$value" GIT_TRACE2_EVENT=@/dir $debug
done
same max_files 'touch dir/a dir/b dir/c' GIT_TRACE2_MAX_FILES=6 GIT_TRACE2=@/dir GIT_TRACE2_PERF=@/dir \
	GIT_TRACE2_EVENT=@/dir $debug
same max_files 'touch dir/a dir/b' GIT_TRACE2_MAX_FILES=4 GIT_TRACE2=@/dir GIT_TRACE2_PERF=@/dir $debug
warned discard 'touch dir/git-trace2-discard' GIT_TRACE2_MAX_FILES=100 GIT_TRACE2_EVENT=@/dir $debug
quiet discard 'touch dir/git-trace2-discard' GIT_TRACE2_MAX_FILES=100 GIT_TRACE2_EVENT=@/dir
same discard 'touch dir/git-trace2-discard' GIT_TRACE2_EVENT=@/dir $debug

# ---- session id, hierarchy, parameters, quoting -----------------------------------------------------
for parent in aa aa/bb /; do
	same parent_sid : "${targets[@]}" GIT_TRACE2_PARENT_SID=$parent
done
same parent_name : "${targets[@]}" GIT_TRACE2_PARENT_NAME=a/b
same env_vars : "${targets[@]}" 'GIT_TRACE2_ENV_VARS=A, B ,,C,D' A=1 B='b c' C=
same quoting : "${targets[@]}" -- "it's" '' 'a b' 'x!' $'new\nline' '+,-./:=@_^' '~' $'\351'
# git shows passwords before 2.43.1
same redact_off : "${targets[@]}" GIT_TRACE2_REDACT=0 -- https://u:p@h http://a:b@c/d
record git : GIT_TRACE2=@/normal -- https://u:p@h >"$tmp/git.txt"
if grep -q REDACTED "$tmp/git.txt"; then
	same redact : "${targets[@]}" -- https://u:p@h http://a:b@c/d HTTPS://u:p@h ftp://u:p@h https://u@h
fi

# ---- git and ours, parent and child of each other: one tree -----------------------------------------
# related tree NAME COMMAND...: in a perf text of all processes there is a d0 and a d1, whose command has the hierarchy NAME,
# and the session id of the child begins with that of its parent.
related()
{
	local name=$2

	shift 2
	rm -rf "$run"
	mkdir -p "$run"
	(cd / && env -i PATH="$PATH" HOME="$run" GIT_CONFIG_NOSYSTEM=1 GIT_TRACE2_PERF="$run/perf" \
		GIT_TRACE2_EVENT="$run/event" "$@") >/dev/null 2>"$run/stderr" </dev/null
	sed -nE 's/.*"event":"version","sid":"([^"]*)".*/\1/p' "$run/event" | sort >"$run/sids"
	if grep -q "| d1 |.*| cmd_name .*| version ($name)" "$run/perf" && [ "$(wc -l <"$run/sids")" -eq 2 ] &&
		grep -q "^$(sed -n 1p "$run/sids")/[^/]*$" "$run/sids" && [ ! -s "$run/stderr" ]; then
		pass
	else
		fail "tree, $*"
		cat "$run/perf" "$run/sids" "$run/stderr"
	fi
}
related tree _run_dashed_/_run_shell_alias_/version git -c "alias.ours=!$tmp/program version" ours
related tree version/version CHILD='git version' "$tmp/program" version

# ---- git's configuration ----------------------------------------------------------------------------
# shellcheck disable=SC2016
{
	same config_normal "$(config '"normalTarget = $PWD/log" normalBrief=yes')"
	same config_perf "$(config '"perfTarget = $PWD/log" perfBrief=1k')"
	same config_event "$(config '"eventTarget = $PWD/log" eventBrief=on')"
	same config_environment "$(config '"eventTarget = $PWD/log"')" GIT_TRACE2_EVENT=
	quiet config_environment "$(config '"eventTarget = $PWD/log"')" GIT_TRACE2_EVENT=0
	same config_environment "$(config '"perfTarget = $PWD/log"')" GIT_TRACE2_PERF=@/other
	warned config_unknown "$(config normalTarget=relative)"
	warned config_debug "$(config '"normalTarget=$PWD/none/x" destinationDebug=1')"
	same config_max_files "$(config '"eventTarget=$PWD/dir" maxFiles=2')"
	same config_params "$(config '"normalTarget=$PWD/log" configParams=trace2.*,Color.*' \
		'"[color] UI=always" "[Color \"x\"]Y=1"')"
	same config_params "$(config '"perfTarget=$PWD/log" "[color]ui=always"')" \
		'GIT_TRACE2_CONFIG_PARAMS= color.ui , trace2.*'
	same config_env_vars "$(config '"normalTarget=$PWD/log" envVars=A,B')" A=1 B=2
	same config_global 'printf "[trace2]\nnormaltarget=$PWD/log\n" >elsewhere' GIT_CONFIG_GLOBAL=@/elsewhere
	same config_system 'printf "[trace2]\nnormaltarget=$PWD/log\n" >elsewhere' GIT_CONFIG_NOSYSTEM= \
		GIT_CONFIG_SYSTEM=@/elsewhere
}

total
