#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the tasks that an instance follows
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor

own=$(instance targets)
p=$own/process
trap 'rmdir "$own"; rm -rf "$tmp"' EXIT
cp "$bin/actor" "$tmp/other"
mkdir -p /sys/fs/cgroup/targets/below

# seen NAME: check that a call of the actor is recorded
seen() {
	do_it mark "/$1"
	has "$own/trace" "access\\(\"/$1\""
}

unseen() {
	! seen "$1"
}

# clear: remove all targets, and turn the tracer on
clear() {
	local f

	quiet "$own"
	for f in comms exes uids cgroups; do
		: > "$p/$f"
	done
	for f; do
		echo "${f#*=}" >> "$p/${f%%=*}"
	done
	echo process > "$own/current_tracer"
}

is_chosen() {
	engine_events "$actor" | grep syscall_entry > /dev/null
}

is_rejected() {
	[ "$(engine_events "$actor")" = - ]
}

test_pids() {
	begin
	clear
	holds "no targets: the actor is recorded" seen all
	holds "no targets: this shell is recorded" has "$own/trace" "-$$ +\\["
	echo $$ > "$own/set_event_pid"
	holds "another pid: not recorded" unseen pid1
	holds "another pid: the engine wants no events of the task" is_rejected
	echo "$actor" >> "$own/set_event_pid"
	holds "its pid: recorded" seen pid2
	holds "its pid: the engine wants its events" is_chosen
	echo "$actor" > "$own/set_event_notrace_pid"
	holds "its pid in set_event_notrace_pid: not recorded" unseen pid3
	echo > "$own/set_event_notrace_pid"
	holds "set_event_notrace_pid is empty: recorded" seen pid4
	echo > "$own/set_event_pid"
	holds "set_event_pid is empty: recorded" seen pid5
	end
}

test_children() {
	begin
	clear
	echo "$actor" > "$own/set_event_pid"
	do_it child /alone 0
	holds "no event-fork: no child" hasnt "$own/trace" '"/alone"'
	do_it thread /alone-thread
	holds "no event-fork: no thread" hasnt "$own/trace" '"/alone-thread"'
	echo 1 > "$own/options/event-fork"
	do_it child /child 0
	holds "event-fork: the child" has "$own/trace" '"/child"'
	do_it thread /thread
	holds "event-fork: the thread" has "$own/trace" '"/thread"'
	holds "event-fork: dead tasks leave the list" \
		await eval '[ "$(cat $own/set_event_pid)" = "$actor" ]'
	echo 0 > "$own/options/event-fork"
	end
}

test_comm() {
	begin
	clear comms=target
	holds "another name: not recorded" unseen comm1
	do_it comm target
	holds "the name changes: recorded" seen comm2
	do_it comm other
	holds "the name changes back: not recorded" unseen comm3
	echo other >> "$p/comms"
	holds "two names: recorded" seen comm4
	end
}

test_exe() {
	begin
	clear "exes=$tmp/other"
	holds "another program: not recorded" unseen exe1
	do_it exec "$tmp/other" answer
	holds "exec of the program: recorded" seen exe2
	ln -sfn other "$tmp/link"
	do_it exec "$tmp/link" answer
	holds "exec by a link to the program: recorded" seen exe3
	do_it exec "$bin/actor" answer
	holds "exec of another program: not recorded" unseen exe4
	end
}

test_uid() {
	begin
	clear uids=1234
	holds "another user: not recorded" unseen uid1
	do_it euid 1234
	holds "the effective uid changes: recorded" seen uid2
	do_it euid 0
	holds "the effective uid changes back: not recorded" unseen uid3
	end
	cp "$bin/actor" "$tmp/setuid"
	chown 1234 "$tmp/setuid"
	chmod 4755 "$tmp/setuid"
	chmod 755 "$tmp"
	begin
	do_it exec "$tmp/setuid" answer
	holds "exec of a set-uid program: recorded" seen uid4
	end
}

test_cgroup() {
	local dir=/sys/fs/cgroup/targets

	begin
	clear cgroups=/targets
	holds "another cgroup: not recorded" unseen cgroup1
	echo "$actor" > $dir/cgroup.procs
	holds "the cgroup changes: recorded" seen cgroup2
	echo "$actor" > $dir/below/cgroup.procs
	holds "a cgroup below it: recorded" seen cgroup3
	echo "$actor" > /sys/fs/cgroup/cgroup.procs
	holds "the cgroup changes back: not recorded" unseen cgroup4
	end
}

test_kinds() {
	begin
	clear comms=target uids=1234 "exes=$tmp/other" "exes=$bin/actor"
	do_it comm target
	holds "one kind fits: not recorded" unseen kinds1
	do_it euid 1234
	holds "both kinds fit: recorded" seen kinds2
	do_it comm other
	holds "only the other kind fits: not recorded" unseen kinds3
	do_it comm target
	echo $$ > "$own/set_event_pid"
	holds "another pid: not recorded, though both kinds fit" unseen kinds4
	echo "$actor" > "$own/set_event_pid"
	holds "its pid, and both kinds fit: recorded" seen kinds5
	echo '!'"$bin/actor" >> "$p/exes"
	holds "a target is removed: not recorded" unseen kinds6
	end
}

test_pids
test_children
test_comm
test_exe
test_uid
test_cgroup
test_kinds
clear
echo nop > "$own/current_tracer"
begin
holds "no engine is left" is "" engine_events "$actor"
end
rmdir /sys/fs/cgroup/targets/below /sys/fs/cgroup/targets
plan
