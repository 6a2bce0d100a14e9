#!/bin/bash
# SPDX-License-Identifier: MIT
# P20: what t2 ship has sent is in the store of t2 collect once, byte for byte, whatever is killed or lost on the way:
# three servers of NATS JetStream with three copies of each message, ship, collectors, the disks of the servers.  All of
# them are in a network namespace where nothing but the loopback is.  In each round programs record, their directory is
# shipped, and one thing goes wrong; ship itself, without a restart, has to come to the end of it.  Then the security: a
# host that publishes for another one, TLS without a certificate.  Ends with "N passed, N failed" and with
# "N faults, N lost, N twice".
set -u
if [ -z "${T2_ALONE:-}" ]; then
	. tests/torture/common.sh
	need nats-server "the fleet" || { total; exit; }
	unshare -n true 2>/dev/null || { skip "the fleet" "no network namespace"; total; exit; }
	rm -rf "$work" "$rings"
	exec env T2_ALONE=1 unshare -n "$0" "$@"
fi
. tests/torture/common.sh
. tests/fleet.sh
ip link set lo up || { skip "the fleet" "no ip"; total; exit; }
export XDG_RUNTIME_DIR=$rings LC_ALL=C TZ=UTC
unset NATS_URL TRACE2_RAW GIT_TRACE2_PARENT_SID GIT_TRACE2_PARENT_NAME
top=$PWD
[ "${out#/}" != "$out" ] || out=$top/$out
export PATH=$out:$PATH
trap 'kill -9 $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$work" "$rings"' EXIT
${CC:-cc} -O1 -Iruntime -o "$work/fleet" tests/torture/fleet.c -L"$out" -Wl,-rpath,"$out" -ltrace2 -pthread
verdict "fleet.c compiles" $?
cd "$work" || exit 1
RANDOM=$seed
faults=0 lost=0 twice=0

server()
{
	nats-server -c "server$1.conf" >>"server$1.log" 2>&1 &
	servers[$1]=$!
}
for i in 1 2 3; do
	cat >"server$i.conf" <<-END
		server_name: s$i
		listen: 127.0.0.1:$((4221 + i))
		jetstream { store_dir: "$work/js$i" }
		cluster { name: t2, listen: 127.0.0.1:$((6221 + i)),
			routes: [ nats://127.0.0.1:6222, nats://127.0.0.1:6223, nats://127.0.0.1:6224 ] }
	END
	server $i
done
url=nats://127.0.0.1:4222,nats://127.0.0.1:4223,nats://127.0.0.1:4224
collect()
{
	collector --replicas=3 --max-bytes="${max_bytes:-64m}" "$@"
}
ship()
{
	t2 ship --nats=$url --host="$host" --status-file=ship.prom "dir.$host" 2>>ship.log &
	ship=$!
}
pause()
{
	sleep 0.$((RANDOM % 9 + 1))
}
stop_servers()
{
	for i in 1 2 3; do kill_all "${servers[$i]}"; done
}
start_servers()
{
	for i in 1 2 3; do server $i; done
}

# ---- what goes wrong --------------------------------------------------------------------------------

a_server_is_killed() { local i=$((RANDOM % 3 + 1)); kill_all "${servers[$i]}"; pause; server $i; }
all_servers_are_killed() { stop_servers; start_servers; }
a_disk_is_lost() { local i=$((RANDOM % 3 + 1)); kill_all "${servers[$i]}"; rm -rf "js$i"; server $i; }
all_disks_are_lost() { stop_servers; rm -rf js1 js2 js3; start_servers; }
# A power cut: the servers sync every two minutes, and lose what they have acknowledged since
all_disks_are_set_back()
{
	local i

	stop_servers
	for i in 1 2 3; do rm -rf "old$i"; cp -a "js$i" "old$i"; done
	start_servers
	sleep 2
	stop_servers
	for i in 1 2 3; do rm -rf "js$i"; mv "old$i" "js$i"; done
	start_servers
}
a_server_is_cut_off() { local i=$((RANDOM % 3 + 1)); kill -STOP "${servers[$i]}"; sleep 3; kill -CONT "${servers[$i]}"; }
ship_is_killed() { kill -STOP "${collectors[0]}"; pause; kill_all $ship; kill -CONT "${collectors[0]}"; ship; }
the_collector_is_killed() { kill_all "${collectors[0]}"; collectors=(); pause; collect; }
one_of_two_collectors_is_killed() { collect; pause; kill_all "${collectors[0]}"; collectors=("${collectors[1]}"); }
# Between write and sync, by strace, which kills it at a system call
the_collector_is_killed_at_a_sync()
{
	kill_all "${collectors[0]}"
	timeout 20 strace -f -qq -o trace -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=$((RANDOM % 5 + 1)) \
		"$out/t2" collect --nats=$url "$work/store" 2>>collect.log
	collectors=()
	collect
}
receipts_are_lost() { kill -STOP $ship; sleep 1; kill -CONT $ship; }
files_of_the_store_are_removed() { find "store/$host" -name '*.tlg' -delete; }

# round FAULT NUMBER
round()
{
	local programs=() i

	host=$1-$2
	mkdir "dir.$host"
	for i in 1 2; do
		TRACE2_RAW=$work/dir.$host ./fleet 1500 $((RANDOM % 300 + 50)) $((RANDOM % 1000)) &
		programs+=($!)
	done
	ship
	sleep 0.3
	pause
	"$1"
	wait "${programs[@]}"
	await_receipts ship.prom 180
	verdict "$host: not all has its receipt" $?
	kill_all $ship TERM
	plain "dir.$host" >local
	plain "store/$host" >stored
	[ "$(wc -l <local)" -eq 2 ] && cmp -s local stored
	verdict "$host: the store has other blocks than the directory" $?
	# sorted: of two processes' events of one time either may come first
	t2expand --format=perf "dir.$host" 2>err | sort >local
	t2expand --format=perf "store/$host"/* 2>err | sort >stored
	faults=$((faults + 1))
	lost=$((lost + $(diff local stored | grep -c '^<')))
	twice=$((twice + $(diff local stored | grep -c '^>')))
	rm -rf "dir.$host"
}
kinds=(a_server_is_killed all_servers_are_killed a_disk_is_lost all_disks_are_lost all_disks_are_set_back
	a_server_is_cut_off ship_is_killed the_collector_is_killed one_of_two_collectors_is_killed
	receipts_are_lost files_of_the_store_are_removed)
need strace "a collector killed at a sync" && kinds+=(the_collector_is_killed_at_a_sync)
collect
for ((n = 0; n < (20 * scale + 99) / 100; n++)); do
	for kind in "${kinds[@]}"; do round "$kind" $n; done
done
for process in "${collectors[@]}"; do kill_all "$process" TERM; done
stop_servers

# ---- who may publish what ---------------------------------------------------------------------------

# A key of a user, as the servers have it: key PREFIX -> $public, and the seed in PREFIX.seed
key()
{
	openssl genpkey -algorithm ed25519 -outform DER -out "$1.der" 2>/dev/null
	openssl pkey -inform DER -in "$1.der" -pubout -outform DER -out "$1.pub" 2>/dev/null
	(umask 077 && python3 - "$1" <<-'END' >"$1.seed")
		import base64, sys
		def text(raw):
		    crc = 0
		    for byte in raw:
		        crc ^= byte << 8
		        for _ in range(8):
		            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
		    return base64.b32encode(raw + crc.to_bytes(2, "little")).decode().rstrip("=")
		name = sys.argv[1]
		print(text(bytes([18 << 3 | 20 >> 2, (20 << 3 & 0xff & 31) << 3]) + open(name + ".der", "rb").read()[-32:]))
		open(name + ".key", "w").write(text(bytes([20 << 3]) + open(name + ".pub", "rb").read()[-32:]))
	END
	public=$(cat "$1.key")
}
if need openssl "TLS and keys"; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
		-addext subjectAltName=IP:127.0.0.1,DNS:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null
	chmod 600 key.pem
	key web
	web=$public
	key store
	sed "s|CERT|$work/cert.pem|g; s|KEY|$work/key.pem|; s|STORE_DIR|$work/jstls|; s|UWEB|$web|; s|USTORE|$public|
		s|^listen:.*|listen: 127.0.0.1:4230|" <"$top/tests/torture/fleet.conf" >tls.conf
	nats-server -c tls.conf >tls.log 2>&1 &
	url=tls://127.0.0.1:4230
	tls=(--nats=$url --tls-ca=cert.pem --tls-cert=cert.pem --tls-key=key.pem)
	collector "${tls[@]}" --nkey="$public" --nkey-seed=store.seed
	mkdir dir.tls
	TRACE2_RAW=$work/dir.tls ./fleet 200 200 1
	timeout 120 t2 ship "${tls[@]}" --nkey="$web" --nkey-seed=web.seed --once --host=web-1 dir.tls 2>ship.log
	verdict "over TLS with a key" $?
	cmp -s <(plain dir.tls) <(plain store/web-1)
	verdict "over TLS: the store has other blocks than the directory" $?
	timeout 4 t2 ship "${tls[@]}" --nkey="$web" --nkey-seed=web.seed --once --host=web-2 dir.tls 2>ship.log
	[ $? -eq 124 ] && [ ! -e store/web-2 ] && grep -qi 'not permitted' ship.log
	verdict "a host that publishes for another one" $?
	timeout 4 t2 ship "${tls[@]}" --once --host=web-1 dir.tls 2>ship.log
	[ $? -eq 124 ]
	verdict "a host without a key" $?
	timeout 4 t2 ship --nats=nats://127.0.0.1:4230 --nkey="$web" --nkey-seed=web.seed --once --host=web-1 dir.tls 2>ship.log
	[ $? -eq 124 ]
	verdict "a host without a certificate" $?
	chmod 644 web.seed
	t2 ship "${tls[@]}" --nkey="$web" --nkey-seed=web.seed --once dir.tls 2>ship.log
	[ $? -eq 1 ] && grep -q 'chmod 600' ship.log
	verdict "a seed that others can read" $?
fi
total
status=$?
echo "$faults faults, $lost lost, $twice twice"
exit $status
