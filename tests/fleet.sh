# SPDX-License-Identifier: MIT
# Sourced by tests/cli/check_fleet.sh and tests/torture/harness_fleet.sh: servers of their own on the loopback, hosts,
# collectors.  The systemd unit that Debian's nats-server brings is not used.
#   $work    a directory of the script's own;  $url  the servers
#   $collectors, $servers  processes
# shellcheck shell=bash disable=SC2034,SC2154
servers=() collectors=()

# kill_all PROCESS [SIGNAL]: and wait until it is gone
kill_all()
{
	kill -"${2:-KILL}" "$1" 2>/dev/null
	kill -CONT "$1" 2>/dev/null
	{ wait "$1"; } 2>/dev/null
}

# plain DIRECTORY: the blocks of all traces in it and below, each process's in its order, unpacked
plain()
{
	find "$1" -name '*.tlg' -size +0 -print0 | while IFS= read -r -d '' file; do
		lz4 -dcq "$file" 2>/dev/null >"$work/plain.tmp" || cat "$file" >"$work/plain.tmp"
		sha1sum <"$work/plain.tmp"
	done | sort
}

# metric FILE NAME: of a status file; nothing: it is not there yet
metric()
{
	sed -n "s/^t2_[a-z]*_$2 //p" "$1" 2>/dev/null
}

# await_receipts STATUS_FILE SECONDS: until ship has looked at what is there, and all has its receipt
await_receipts()
{
	local end=$((SECONDS + $2))

	rm -f "$1"
	while ((SECONDS <= end)); do
		[ "$(metric "$1" waiting_bytes)$(metric "$1" receipts_outstanding)" = 00 ] && return
		sleep 0.05
	done
	return 1
}

# collector [OPTION]...: one more, for $url
collector()
{
	t2 collect --nats="$url" --status-file="$work/collect.prom" "$@" "$work/store" 2>>"$work/collect.log" &
	collectors+=($!)
}
