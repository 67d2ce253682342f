#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - followed tasks that are killed or execute another program
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor

own=$(instance lives)
p=$own/process
trap 'rmdir "$own"; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"

# texts PID: print the records of a task, without times and addresses
texts() {
	sed -nE "s/^.*-$1 +\\[[0-9]+\\] [^:]*: //p" "$own/trace" |
		sed -E 's/ <[0-9.]+>$//'
}

# has_text PID REGEX: check that the full text of a record of the task matches
has_text() {
	texts "$1" > "$tmp/texts"
	grep -xE -- "$2" "$tmp/texts" > /dev/null || { cat "$tmp/texts"; return 1; }
}

# last_texts N: print the actor's last records in one line
last_texts() {
	texts "$actor" | tail -n "$1" | tr '\n' '|'
}

test_killed() {
	begin
	follow "$own" "$actor"
	echo pause >&8
	await has "$own/trace" ': pause\(\)$'
	kill -KILL "$actor"
	end 2> /dev/null
	holds "killed in a call: the end is the last record" is \
		'pause()|<... pause resumed> = ? ERESTARTNOHAND|+++ killed by SIGKILL +++|' \
		last_texts 3
	holds "killed in a call: SIGKILL is no signal record" hasnt "$own/trace" '--- SIGKILL'
	holds "killed in a call: one end" is 1 count "$own/trace" '\+\+\+ killed'
	quiet "$own"
}

# ended PID: check that the task is a zombie, or was reaped by this shell
ended() {
	[[ $(state "$1") =~ ^Z?$ ]]
}

# A fatal signal ends the sleep of a followed task, as that of any task.
test_killable() {
	local sig

	echo signal exit > "$p/events"
	for sig in TERM USR2; do
		begin
		follow "$own" "$actor"
		echo vfork >&8
		await is D state "$actor"
		kill -s "$sig" "$actor"
		holds "killable sleep: SIG$sig ends it" await ended "$actor"
		kill -KILL "$actor" 2> /dev/null
		end 2> /dev/null
		holds "killable sleep: the signal, its sender, and one end" is \
			"--- SIG$sig {si_code=0, si_pid=$$} ---|+++ killed by SIG$sig +++|" \
			last_texts 9
		quiet "$own"
	done
}

# counted PID: print the count of getuid for a pid
counted() {
	awk -v pid="$1" '$1 == pid && $3 == "getuid" { print $4 }' "$p/stat"
}

# If followed by name, the process stays followed: the thread gets the leader's
# pid.
test_exec_thread() {
	local thread

	begin
	echo sys_enter sys_exit fork exec exit stat > "$p/events"
	echo actor > "$p/comms"
	echo process > "$own/current_tracer"
	do_it call 102 3
	do_it exec-thread "$bin/actor" answer
	do_it mark /after
	do_it call 102 5
	thread=$(sed -nE 's/.*\+\+\+ thread ([0-9]+) created.*/\1/p' "$own/trace")
	holds "exec by a thread: the entry of the thread" has_text "$thread" \
		'execve\(.*"answer".*\)'
	holds "exec by a thread: the exec has the leader's pid" has_text "$actor" \
		"\\+\\+\\+ exec \"$bin/actor\" \\[\"actor\", \"answer\"\\].*"
	holds "exec by a thread: the result has the leader's pid" has_text "$actor" \
		'<\.\.\. execve resumed> = 0'
	holds "exec by a thread: the leader ends before, superseded by the thread" \
		has_text "$actor" "\\+\\+\\+ superseded by execve in pid $thread \\+\\+\\+"
	holds "exec by a thread: the leader has not exited" is 0 eval \
		'texts "$actor" | grep -c "exited with"'
	holds "exec by a thread: calls of the new program" has_text "$actor" \
		'access\("/after", F_OK\)'
	holds "exec by a thread: the last record of the thread" is "execve" eval \
		"texts $thread | tail -n 1 | grep -oE '^[a-z]+'"
	holds "exec by a thread: counted under the new pid" eval \
		"counted $actor | tee -a /dev/stderr | grep -x 5"
	holds "exec by a thread: earlier counts keep the old pid" has "$p/stat" \
		"^ *$thread actor +set_robust_list +1 "
	do_it child /of-child 0
	holds "exec by a thread: children of the new program" has "$own/trace" 'access\("/of-child"'
	end
	holds "exec by a thread: one end, besides that of the leader" is 1 eval \
		"texts $actor | grep -c '^+++ exited'"
	: > "$p/comms"
	echo '!stat' >> "$p/events"
	quiet "$own"
	echo > "$p/stat"
}

# ftrace's list of pids has both pids; that of the thread is removed.
test_exec_thread_pid() {
	begin
	echo sys_enter > "$p/events"
	echo 1 > "$own/options/event-fork"
	follow "$own" "$actor"
	do_it exec-thread "$bin/actor" answer
	do_it mark /after
	do_it child /of-child 0
	holds "exec by a thread, by pid: followed under the leader's pid" has_text "$actor" \
		'access\("/after", F_OK\)'
	holds "exec by a thread, by pid: its children are followed" has "$own/trace" '"/of-child"'
	holds "exec by a thread, by pid: the list has only the leader's pid" \
		await eval '[ "$(cat "$own/set_event_pid")" = "$actor" ]'
	echo 0 > "$own/options/event-fork"
	end
	quiet "$own"
	# The leader is followed, the thread is not.
	begin
	echo sys_enter sys_exit exec > "$p/events"
	follow "$own" "$actor"
	do_it exec-thread "$bin/actor" answer
	holds "exec by a thread, only the leader followed: the exec" \
		has_text "$actor" '\+\+\+ exec .*'
	holds "exec by a thread, only the leader followed: calls of the new program" \
		has_text "$actor" 'set_tid_address\(.*'
	end
	quiet "$own"
	# The thread is followed, the leader is not. The engine itself must
	# reject the calls, so they are calls that ftrace's own filter of pids
	# does not check.
	begin
	echo sys_enter > "$p/events"
	echo actor > "$p/comms"
	echo "$actor" > "$own/set_event_notrace_pid"
	echo process > "$own/current_tracer"
	do_it exec-thread "$bin/actor" answer
	do_it call 102 3
	holds "exec by a thread, the leader not followed: before" has "$own/trace" 'execve\('
	holds "exec by a thread, the leader not followed: after" hasnt "$own/trace" 'getuid'
	holds "exec by a thread, the leader not followed: no events" is - engine_events "$actor"
	end
	: > "$p/comms"
	quiet "$own"
}

test_setid() {
	cp "$bin/actor" "$tmp/setid"
	chown 1234:4321 "$tmp/setid"
	chmod 6755 "$tmp/setid"
	begin
	echo sys_enter sys_exit exec > "$p/events"
	follow "$own" "$actor"
	do_it exec "$tmp/setid" answer
	do_it mark /as-other
	holds "set-id: the exec and its ids" has_text "$actor" \
		"\\+\\+\\+ exec \"$tmp/setid\" .* uid=0 euid=1234 \\+\\+\\+"
	holds "set-id: the result of execve" has_text "$actor" '<\.\.\. execve resumed> = 0'
	holds "set-id: it is still followed" has_text "$actor" 'access\("/as-other", F_OK\)'
	end
	quiet "$own"
	begin
	echo 0 > "$p/uids"
	echo "$actor" > "$own/set_event_pid"
	echo process > "$own/current_tracer"
	do_it mark /as-root
	do_it exec "$tmp/setid" answer
	do_it mark /as-other
	holds "set-id, by user: followed before" has_text "$actor" 'access\("/as-root", F_OK\)'
	holds "set-id, by user: execve is its last call" has_text "$actor" 'execve\(.*'
	holds "set-id, by user: not followed as another user" hasnt "$own/trace" '"/as-other"'
	end
	: > "$p/uids"
	quiet "$own"
}

test_killed
test_killable
test_exec_thread
test_exec_thread_pid
test_setid
plan
