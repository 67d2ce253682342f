#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - settings and verdicts that change while a task is followed
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor

own=$(instance changes)
other=$(instance changes2)
p=$own/process
trap 'rmdir "$own" "$other"; rm -rf "$tmp"' EXIT
everything="sys_enter sys_exit fork exec exit signal jobctl"

# seen: the actor's marks and getuid() calls in the instance, without results
seen() {
	sed -nE "s/^.*-$actor +\\[[0-9]+\\] [^:]*: //p" "$1/trace" |
		grep -oE '^(access|getuid)\(|^<\.\.\. (access|getuid) resumed' |
		sed -E 's/[(]$//; s/^<\.\.\. (.*) resumed/-\1/' | tr '\n' ' '
}

# after WHAT WANT: check the records of what the actor does after a change
after() {
	echo > "$own/trace"
	do_it mark /after
	do_it call 102
	holds "$1" is "$2" seen "$own"
}

# settings BY: change each setting, while the task makes calls all the time
settings() {
	local by=$1

	echo "$everything" > "$p/events"
	after "$by: all calls" "access -access getuid -getuid "
	echo access > "$p/syscalls"
	after "$by: one call" "access -access "
	echo getuid > "$p/syscalls"
	after "$by: another call" "getuid -getuid "
	echo access >> "$p/syscalls"
	after "$by: both calls" "access -access getuid -getuid "
	echo '!getuid' >> "$p/syscalls"
	after "$by: a call is removed" "access -access "
	: > "$p/syscalls"
	after "$by: all calls again" "access -access getuid -getuid "
	echo sys_exit > "$p/events"
	after "$by: results alone" "-access -getuid "
	echo sys_enter > "$p/events"
	after "$by: entries alone" "access getuid "
	echo signal > "$p/events"
	after "$by: no calls" ""
	do_it signal 10
	holds "$by: signals, but no calls" has "$own/trace" '--- SIGUSR1'
	echo exec > "$p/events"
	after "$by: still no calls" ""
	echo "sys_enter sys_exit" > "$p/events"
	after "$by: calls again" "access -access getuid -getuid "
	echo > "$own/trace"
	do_it signal 10
	holds "$by: calls, but no signals" hasnt "$own/trace" '--- SIGUSR1'
}

test_alone() {
	begin
	echo exec > "$p/events"
	follow "$own" "$actor"
	settings "alone"
	quiet "$own"
	end
}

test_other() {
	begin
	echo getuid > "$other/process/syscalls"
	echo sys_enter > "$other/process/events"
	follow "$other" "$actor"
	echo exec > "$p/events"
	follow "$own" "$actor"
	settings "another instance"
	holds "another instance: it has its calls all the time" is 11 \
		count "$other/trace" ': getuid\(\)$'
	holds "another instance: it has no other records" is 11 eval "plain $other/trace | wc -l"
	: > "$other/process/syscalls"
	echo "$everything" > "$other/process/events"
	quiet "$own"
	quiet "$other"
	end
}

tracer_of() {
	awk '$1 == "TracerPid:" { print $2 }' "/proc/$actor/status"
}

test_strace() {
	local job

	begin
	strace -q -o "$tmp/strace.log" -p "$actor" 8>&- 9<&- &
	job=$!
	holds "strace traces the actor" await eval "[ \"\$(tracer_of)\" = $job ]"
	echo exec > "$p/events"
	follow "$own" "$actor"
	settings "strace"
	holds "strace: it has all calls" is 11 count "$tmp/strace.log" '^getuid\(\)'
	kill -INT $job
	wait $job
	settings "strace has gone"
	quiet "$own"
	end
}

# pairs N: an exit that says how long the call took must have its entry before
# it. At most N exits may lack it, of calls in which the task began to be
# followed.
pairs() {
	sed -nE "s/^.*-$actor +\\[[0-9]+\\] [^:]*: //p" "$own/trace" > "$tmp/texts"
	awk -v most="$1" '
		/^[a-z_0-9]+\(/ { call = $0; sub(/\(.*/, "", call); next }
		!/^<\.\.\. / { next }
		!/ <[0-9]+\.[0-9]+>$/ { call = ""; if (++n > most) print n " alone: " $0; next }
		{ if ($2 != call) print "no entry: " $0; call = "" }
		' "$tmp/texts" > "$tmp/alone"
	[ ! -s "$tmp/alone" ] || { cat "$tmp/alone" "$tmp/texts"; return 1; }
}

# becomes WHAT yes|no: check whether the actor is followed from now on
becomes() {
	do_it mark "/$1"
	if [ "$2" = yes ]; then
		holds "$1: followed" has "$own/trace" "access\\(\"/$1\""
	else
		holds "$1: not followed" hasnt "$own/trace" "access\\(\"/$1\""
	fi
}

test_comm() {
	begin
	echo target > "$p/comms"
	echo process > "$own/current_tracer"
	becomes comm1 no
	do_it comm target
	becomes comm2 yes
	do_it comm nobody
	becomes comm3 no
	do_it comm target
	becomes comm4 yes
	do_it comm nobody
	becomes comm5 no
	holds "comm: each exit has its entry" pairs 2
	holds "comm: only calls that changed the name lack an entry" is 2 eval \
		"grep -c '<... prctl resumed> = 0\$' $tmp/texts"
	: > "$p/comms"
	quiet "$own"
	end
}

# The task leaves the cgroup in the middle of a call, and returns in another.
test_cgroup() {
	local dir=/sys/fs/cgroup/changes

	mkdir -p $dir
	begin
	echo /changes > "$p/cgroups"
	echo process > "$own/current_tracer"
	becomes cgroup1 no
	echo "$actor" > $dir/cgroup.procs
	becomes cgroup2 yes
	echo pause >&8
	await has "$own/trace" ': pause\(\)$'
	echo "$actor" > /sys/fs/cgroup/cgroup.procs
	kill -USR1 "$actor"
	read -r -t $((30 * patience)) <&9
	becomes cgroup3 no
	await eval '[ "$(cat /proc/$actor/wchan)" != 0 ]'
	echo "$actor" > $dir/cgroup.procs
	becomes cgroup4 yes
	holds "cgroup: each exit has its entry" pairs 2
	holds "cgroup: an exit outside of the cgroup is not recorded" \
		hasnt "$own/trace" 'pause resumed'
	echo "$actor" > /sys/fs/cgroup/cgroup.procs
	: > "$p/cgroups"
	quiet "$own"
	end
	rmdir $dir
}

test_alone
test_other
! command -v strace > /dev/null || test_strace
echo "sys_enter sys_exit" > "$p/events"
test_comm
test_cgroup
plan
