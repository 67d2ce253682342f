#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - programs whose system calls have bad pointers
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built hostile

own=$(instance hostile)
p=$own/process
trap 'rmdir "$own" 2> /dev/null; rm -rf "$tmp"' EXIT

# traced COMMAND...: in a subshell, become a target and run the command
traced() {
	echo "$BASHPID" >> "$own/set_event_pid"
	exec "$@"
}

# setup STACKS: turn on the tracer and capture everything. Process 1 is a
# target, so that there is always one.
setup() {
	echo strings buffers sockets files > "$p/args"
	echo "$1" > "$p/stacks"
	echo 1 > "$own/options/event-fork"
	echo 1 > "$own/set_event_pid"
	echo process > "$own/current_tracer"
}

test_pointers() {
	local stack

	"$bin/hostile" pointers > "$tmp/alone"
	holds "there is something to compare" [ "$(wc -l < "$tmp/alone")" -gt 100 ]
	for stack in none frames raw; do
		setup $stack
		(traced "$bin/hostile" pointers) > "$tmp/traced"
		holds "bad pointers, stacks $stack: the same results" \
			diff "$tmp/alone" "$tmp/traced"
		holds "bad pointers, stacks $stack: recorded" \
			has "$own/trace" 'openat\(AT_FDCWD<[^>]*>, 0xffffffff81000000, '
		holds "bad pointers, stacks $stack: a string is cut at bad memory" \
			has "$own/trace" 'openat\(AT_FDCWD<[^>]*>, "xxxxxxx"\.\.\., '
		holds "bad pointers, stacks $stack: a string that just fits" \
			has "$own/trace" 'openat\(AT_FDCWD<[^>]*>, "xxxxxxx", '
		quiet "$own"
	done
}

test_race() {
	setup raw
	holds "memory that is unmapped and mapped" eval \
		'(traced "$bin/hostile" race $((${SLOW:-0} ? 300 : 2000)))'
	holds "such calls are recorded" has "$own/trace" 'writev'
	quiet "$own"
}

# begin_stuck WHAT: start a target that waits in the tracer for a page; sets pid
begin_stuck() {
	rm -f "$tmp/ready"
	traced "$bin/hostile" "$1" > "$tmp/ready" &
	pid=$!
	await grep -q ready "$tmp/ready"
	await eval '[ "$(cat /proc/$pid/wchan)" = handle_userfault ]'
}

is_stuck() {
	[ "$(cat "/proc/$pid/wchan")" = handle_userfault ]
}

# in_tracer: check that the task waits in the tracer, and not in the call. The
# record comes only when it is complete.
in_tracer() {
	is_stuck && ! grep -E "hostile-$pid .* (openat\\(.*0x7f|execve\\(\"/bin/true\")" \
		"$own/trace"
}

is_gone() {
	[ ! -e "/proc/$pid" ] || [ "$(state "$pid")" = Z ]
}

end_stuck() {
	kill -9 "$pid"
	holds "$1: SIGKILL ends it" await is_gone
	wait "$pid" 2> /dev/null
}

# soon WHAT COMMAND...: check that the command ends in time. If it hangs it is
# left alone.
soon() {
	local text=$1 job

	shift
	"$@" > "$tmp/soon" 2>&1 &
	job=$!
	holds "$text" await eval "! kill -0 $job 2> /dev/null || [ \"\$(state $job)\" = Z ]"
	wait "$job"
}

write() {
	echo "$1" > "$2"
}

test_stuck() {
	local what

	for what in stuck stuck-exec; do
		setup none
		begin_stuck $what
		holds "$what: the task is stuck" is_stuck
		holds "$what: it is stuck in the tracer" in_tracer
		end_stuck "$what"

		begin_stuck $what
		soon "$what: targets can be changed" write 1 "$own/set_event_pid"
		soon "$what: settings can be changed" write stat "$p/events"
		soon "$what: names can be changed" write hostile "$p/comms"
		soon "$what: the tracer can be switched off" write nop "$own/current_tracer"
		soon "$what: the tracer can be switched on" write process "$own/current_tracer"
		holds "$what: it is still stuck" is_stuck
		echo 'sys_enter sys_exit' > "$p/events"
		: > "$p/comms"
		end_stuck "$what, settings changed"

		begin_stuck $what
		soon "$what: the instance can be removed" rmdir "$own"
		holds "$what: the instance is gone" [ ! -e "$own" ]
		soon "$what: the instance can be made again" mkdir "$own"
		end_stuck "$what, instance removed"
	done
}

test_stuck_stat() {
	setup none
	echo stat sys_enter > "$p/events"
	begin_stuck stuck
	holds "stat names its call" eval \
		"awk -v pid=$pid '\$1 == pid && \$4 == \"now\"' $p/stat | grep openat"
	holds "other tasks are still followed" eval \
		'(traced /bin/cat /etc/hostname); has $own/trace /etc/hostname'
	end_stuck "stat"
	quiet "$own"
}

test_pointers
test_race
test_stuck
test_stuck_stat
plan
