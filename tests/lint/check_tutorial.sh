#!/bin/bash
# SPDX-License-Identifier: MIT
# Does trace2-tutorial(7) say what is so?  Its files are made and its commands are run, one after the other, in a directory
# of their own, against an installed library; what it shows is there, but for numbers.  In the page, between comments:
#   .\" file NAME    a file
#   .\" run [TOOL]   commands, each behind "$ "; left out if the tool is not installed, and then that is said
#   .\" shows        lines that the last commands have printed, in this order
# Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
if [[ $out != "$top/build" ]]; then
	echo "only the default variant is installed"
	exit 77
fi
page=$top/runtime/trace2-tutorial.7
unset MAKEFLAGS MAKELEVEL MFLAGS GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
mkdir -p "$tmp/run" "$tmp/files"

# Cut the page into files, commands-N, shown-N
awk -v dir="$tmp" '
	/^\.\\" file / { to = dir "/files/" $3; next }
	/^\.\\" run/ { to = dir "/commands-" ++n; print $3 > (dir "/tool-" n); next }
	/^\.\\" shows/ { to = dir "/shown-" n; next }
	/^\.\\" end/ { close(to); to = ""; next }
	to != "" && !/^\./ { gsub(/\\e/, "\\"); sub(/^\$ /, ""); print > to }' "$page"

quiet "install" make -C "$top" install prefix="$tmp/prefix"
export PATH=$tmp/prefix/bin:$PATH LD_LIBRARY_PATH=$tmp/prefix/lib XDG_RUNTIME_DIR=$tmp/run
export PKG_CONFIG_PATH=$tmp/prefix/lib/pkgconfig
for ((n = 1; ; n++)); do
	[ -e "$tmp/commands-$n" ] || break
	tool=$(cat "$tmp/tool-$n")
	echo "exec >'$tmp/printed-$n' 2>&1"
	if [ -n "$tool" ] && ! command -v "$tool" >/dev/null; then
		echo "no $tool" >>"$tmp/skipped"
		continue
	fi
	cat "$tmp/commands-$n"
	echo "touch '$tmp/done-$n'"
done >"$tmp/all"
# What sleeps waits, however busy the machine is: for the program in the background, until it is at work, and for what the
# last signal has asked it for, another trace or the first one.
cat >"$tmp/script" <<'END'
traces()
{
	find . -maxdepth 1 -name '*.tlg' -size +0 | wc -l
}
least=0
kill()
{
	case $1 in
	-HUP | -USR1) least=$(($(traces) + 1)) ;;
	esac
	command kill "$@"
}
sleep()
{
	for i in $(seq 300); do
		! t2expand "--live=$!" 2>/dev/null | grep region_enter >/dev/null || [ "$(traces)" -lt "$least" ] || break
		command sleep 0.1
	done
	command sleep 1
}
END
cat "$tmp/all" >>"$tmp/script"
(cd "$tmp/files" && timeout -s KILL 900 sh -eu "$tmp/script" </dev/null)

mask()
{
	sed -E 's/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}/TIME/; s/[0-9]+\.[0-9]{6}/SECONDS/g; s/[0-9.]+ (ns|us|ms|s)\b/TIME/g; s/ +/ /g' \
		"$1"
}

for ((i = 1; i < n; i++)); do
	if [ ! -e "$tmp/done-$i" ]; then
		[ -n "$(cat "$tmp/tool-$i")" ] && grep -qx "no $(cat "$tmp/tool-$i")" "$tmp/skipped" 2>/dev/null && continue
		fail "commands that do not run: $(cat "$tmp/commands-$i")"
		head -n 10 "$tmp/printed-$i" 2>/dev/null
		continue
	fi
	pass
	[ -e "$tmp/shown-$i" ] || continue
	mask "$tmp/printed-$i" >"$tmp/is"
	mask "$tmp/shown-$i" >"$tmp/expected"
	none "shown, but not printed by: $(cat "$tmp/commands-$i")" "$(diff "$tmp/expected" "$tmp/is" | grep '^<')"
done
check "all of the page was run" [ "$n" -gt 10 ]
[ ! -e "$tmp/skipped" ] || sed 's/^/skipped: /' "$tmp/skipped"
if [ "${CI:-}" = true ]; then
	none "tools that have to be there" "$(cat "$tmp/skipped" 2>/dev/null)"
fi
total
