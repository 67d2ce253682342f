#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - snapshots while tasks write records
#
# A snapshot swaps a ring to which a task may be writing a record. The kernel
# log must have no complaint, either.
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built threads

own=$(instance snapshot)
trap 'rm -f "$tmp/on"; wait; rmdir "$own"; rm -rf "$tmp"' EXIT
[ -e "$own/snapshot" ] || skip_all "no snapshots in this kernel"
calls=$((${SLOW:-0} ? 2000 : 20000))

# splats: print the number of complaints in the kernel log
splats() {
	dmesg | grep -cE 'WARNING:|BUG:|Oops|ring_buffer'
}

work() {
	while [ -e "$tmp/on" ]; do
		printf '\n\n' | "$bin/threads" 2 "$calls" > /dev/null
		echo >> "$tmp/rounds"
	done
}

# snapshots N: take N snapshots while the tasks work
snapshots() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo 1 > "$own/snapshot" || return 1
	done
}

# whole FILE: check that the buffer has only records of the calls
whole() {
	local record='getuid\(\)|<\.\.\. getuid resumed> = 0( <[0-9]+\.[0-9]{6}>)?'
	local bad

	has "$own/$1" ': getuid\(\)$' || { echo "no records"; return 1; }
	bad=$(plain "$own/$1" | grep -vE "^CPU:|: ($record)\$" | head)
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}

test_swap() {
	local before

	before=$(splats)
	: > "$tmp/on"
	work &
	work &
	await eval 'has "$own/trace" getuid'
	holds "snapshots are taken" snapshots $((${SLOW:-0} ? 200 : 1500))
	rm "$tmp/on"
	wait
	holds "the tasks were at work" [ -s "$tmp/rounds" ]
	holds "the kernel does not complain" is "$before" splats
	holds "records are whole" whole trace
	holds "records of the snapshot are whole" whole snapshot
	echo > "$own/trace"
	printf '\n\n' | "$bin/threads" 2 300 > /dev/null
	holds "entries are written after that" is 600 count "$own/trace" ': getuid\(\)'
	holds "exits are written after that" is 600 count "$own/trace" 'getuid resumed> = 0'
	holds "nothing is lost" is 0 lost "$own"
}

echo 1000 > "$own/buffer_size_kb"
echo getuid > "$own/process/syscalls"
echo sys_enter sys_exit > "$own/process/events"
echo threads > "$own/process/comms"
echo process > "$own/current_tracer"
test_swap
quiet "$own"
plan
