# SPDX-License-Identifier: MIT
# Sourced by checks that fetch profiles with `go tool pprof': $base is the address of debug/pprof without a slash behind,
# of a program with the functions compute_here, allocate_here and wait_here.

# fetch PROFILE OPTION...: what Go says of it in raw
fetch()
{
	timeout 100 go tool pprof -timeout 60 -raw "${@:2}" "$base/$1" >raw 2>err
}

# fetch_all: each profile, with the types of its values and a function that has to be in it
fetch_all()
{
	local profile type function status

	while read -r profile type function; do
		fetch "$profile"
		status=$?
		check "go fetches $profile: $(tail -n 2 err)" [ $status -eq 0 ]
		check "$profile: $type" grep -q "$type" raw
		[ -z "$function" ] || check "$profile has $function" grep -q "$function" raw
	done <<-'END'
		profile?seconds=2 cpu/nanoseconds compute_here
		wall?seconds=1 wall/nanoseconds
		heap?seconds=1 inuse_space/bytes allocate_here
		allocs?seconds=1 alloc_space/bytes allocate_here
		block?seconds=1 delay/nanoseconds wait_here
		mutex?seconds=1 delay/nanoseconds
		threadcreate threadcreate/count
		goroutine threads/count main
		heap inuse_space/bytes
	END
}
