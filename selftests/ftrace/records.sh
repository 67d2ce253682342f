#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - what is recorded, and the text of records
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor

own=$(instance records)
p=$own/process
trap 'rmdir "$own"; rm -rf "$tmp"' EXIT

# reads TEXT REGEX: check that a record ends with this text
reads() {
	holds "$1" has "$own/trace" ": $2\$"
}

# records WHAT COMMAND...: clear the trace and let the actor run a command
records() {
	echo > "$own/trace"
	do_it "$@"
}

time='<[0-9]+\.[0-9]{6}>'

test_calls() {
	records open /etc/passwd
	reads "openat" 'openat\(AT_FDCWD, "/etc/passwd", O_RDONLY\|O_CLOEXEC\)'
	reads "openat resumed" "<\\.\\.\\. openat resumed> = [0-9]+ $time"
	records open '/no"such'
	reads "a string is escaped" 'openat\(AT_FDCWD, "/no\\"such", O_RDONLY\|O_CLOEXEC\)'
	reads "an error by name" "<\\.\\.\\. openat resumed> = -1 ENOENT $time"
	records call 62
	reads "kill" 'kill\(-1, 0\)'
	records call 39
	reads "a call without arguments" 'getpid\(\)'
	reads "its result" "<\\.\\.\\. getpid resumed> = $actor $time"
	records i386 20
	reads "a call of the 32-bit table" 'getpid\(\)'
	records call 9999
	reads "a number that no table has" "syscall_0x270f\\(.*\\)"
	reads "its result" "<\\.\\.\\. syscall_0x270f resumed> = -1 ENOSYS $time"
	holds "each call has two records" is 2 count "$own/trace" 'syscall_0x270f'
	records i386 9999
	reads "one of the 32-bit table, without the table's flag" "syscall_0x270f\\(.*\\)"
	records call $((0x20000014))
	reads "a number that has the bit of this flag" "syscall_0x20000014\\(.*\\)"
	reads "its result" "<\\.\\.\\. syscall_0x20000014 resumed> = -1 ENOSYS $time"
	records call $((0xffffffff))
	reads "all bits" "syscall_0xffffffff\\(.*\\)"
	reads "its result" "<\\.\\.\\. syscall_0xffffffff resumed> = -1 ENOSYS $time"
	records call $((0x80000027))
	reads "a negative number" "syscall_0x80000027\\(.*\\)"
	reads "its result" "<\\.\\.\\. syscall_0x80000027 resumed> = -1 ENOSYS $time"
}

# A path that does not fit is cut, and the record says so.
test_long() {
	local path

	path=/$(printf 'x%.0s' {1..450})
	records mark "$path"
	reads "a long string" "access\\(\"$path\"\\.*, F_OK\\)"
	holds "the record names its task" has "$own/trace" "^ +actor-$actor +\\["
}

# The largest records: they must fit into a page of the ring, which has no room
# for larger ones.
test_largest() {
	local x

	x="\"$(printf 'x%.0s' {1..488})\"\\.\\.\\."
	echo raw > "$p/stacks"
	records large
	reads "three long strings and a stack" \
		"request_key\\($x, $x, $x, .*\\) <raw stack of 488 bytes>"
	echo none > "$p/stacks"
	records exec-long "$bin/actor" answer
	x="\"answer\", \"$(printf 'x%.0s' {1..470})x*\""
	reads "a program with a long path" \
		"\\+\\+\\+ exec \"/{1024}\" \\[\"actor\", $x, \\.\\.\\.\\] cwd=.* \\+\\+\\+"
	holds "none is lost" is 0 lost "$own"
}

test_events() {
	records child /of-child 7
	reads "fork" '\+\+\+ process [0-9]+ created, .*SIGCHLD.* \+\+\+'
	records thread /of-thread
	reads "a thread" '\+\+\+ thread [0-9]+ created, .*CLONE_THREAD.* \+\+\+'
	records signal 10
	reads "signal" "--- SIGUSR1 \\{si_code=-6, si_pid=$actor\\} ---"
	records exec "$bin/actor" answer
	reads "exec" "\\+\\+\\+ exec \"$bin/actor\" \\[\"actor\", \"answer\"\\].* \\+\\+\\+"
	kill -STOP "$actor"
	await eval '[ "$(state "$actor")" = T ]'
	kill -CONT "$actor"
	do_it call 39
	reads "stopped" '--- stopped by SIGSTOP ---'
	reads "continued" '--- continued ---'
	echo 1 > "$own/options/event-fork"
	records child /of-child 7
	reads "exit" '\+\+\+ exited with 7 \+\+\+'
	echo 0 > "$own/options/event-fork"
	kill -TERM "$actor"
	end
	reads "killed" '\+\+\+ killed by SIGTERM \+\+\+'
	quiet "$own"
}

# Each event is enabled alone, and no other event is recorded.
test_choice() {
	local event text

	for event in sys_enter:'access\(' sys_exit:'access resumed' \
		fork:'created' exec:'exec "' signal:'--- SIG' exit:'exited with 0' \
		jobctl:'stopped|continued'; do
		begin
		echo "${event%%:*}" > "$p/events"
		follow "$own" "$actor"
		do_it mark /choice
		do_it child /choice 0
		do_it signal 10
		do_it exec "$bin/actor" answer
		kill -STOP "$actor"
		await eval '[ "$(state "$actor")" = T ]'
		kill -CONT "$actor"
		do_it call 39
		end
		text=${event#*:}
		holds "${event%%:*} alone is recorded" has "$own/trace" "$text"
		text=$text$([ "${event%%:*}" != sys_enter ] || echo '|: [a-z_0-9]+\(')
		text=$text$([ "${event%%:*}" != sys_exit ] || echo '|resumed>')
		holds "${event%%:*} alone" is "" eval \
			"plain $own/trace | grep -vE '$text'"
		quiet "$own"
	done
	begin
	echo "sys_enter sys_exit fork exec exit signal jobctl" > "$p/events"
	echo "access i386/getpid" > "$p/syscalls"
	follow "$own" "$actor"
	do_it mark /chosen
	do_it call 39
	do_it open /etc/passwd
	do_it i386 20
	holds "syscalls: those that were chosen" is \
		"access( access resumed> getpid( getpid resumed> " eval \
		"plain $own/trace | grep -oE '[a-z0-9_]+\\(| [a-z0-9_]+ resumed>' | tr -d '\\n' |
			sed 's/[(>]/& /g; s/^ //; s/  */ /g'"
	: > "$p/syscalls"
	quiet "$own"
	end
}

# A task that its ptracer leaves in a stop takes part in the stop again, and
# reports it again. That is one stop.
test_one_stop() {
	local answer=

	begin
	echo jobctl > "$p/events"
	follow "$own" "$actor"
	echo leave-stopped >&8
	holds "one stop: a ptracer leaves the task there" \
		await eval '[ "$(state "$actor")" = T ]'
	kill -CONT "$actor"
	read -r -t $((30 * patience)) answer <&9
	holds "one stop: the ptracer gets it" [ "$answer" = 0 ]
	holds "one stop: one record" is 1 count "$own/trace" '--- stopped by SIGSTOP ---$'
	holds "one stop: one record of its end" is 1 count "$own/trace" '--- continued ---$'
	holds "one stop: no other record" is 2 eval 'plain "$own/trace" | wc -l'
	end
	echo "sys_enter sys_exit fork exec exit signal jobctl" > "$p/events"
	quiet "$own"
}

test_args() {
	local what

	begin
	follow "$own" "$actor"
	: > "$p/args"
	records open /etc/passwd
	reads "args: none" 'openat\(AT_FDCWD, 0x[0-9a-f]+, O_RDONLY\|O_CLOEXEC\)'
	echo strings > "$p/args"
	records write "$tmp/written" some-text
	reads "args: no buffers" 'write\([0-9]+, 0x[0-9a-f]+, 9\)'
	echo buffers >> "$p/args"
	records write "$tmp/written" some-text
	reads "args: buffers that are written" 'write\([0-9]+, "some-text", 9\)'
	records read "$tmp/written" 4
	reads "args: buffers that were read" "<\\.\\.\\. read resumed> \"some\" = 4 $time"
	records connect 1
	reads "args: no sockets" 'connect\([0-9]+, 0x[0-9a-f]+, 16\)'
	echo sockets >> "$p/args"
	records connect 1
	what='\{sa_family=AF_INET, sin_port=htons\(1\), sin_addr=inet_addr\("127\.0\.0\.1"\)\}'
	reads "args: sockets" "connect\\([0-9]+, $what, 16\\)"
	echo files >> "$p/args"
	records write "$tmp/written" some-text
	reads "args: files" "write\\([0-9]+<$tmp/written>, \"some-text\", 9\\)"
	echo strings > "$p/args"
	end
	quiet "$own"
}

test_stacks() {
	begin
	follow "$own" "$actor"
	echo frames > "$p/stacks"
	records mark /frames
	reads "stacks: frames" 'access\("/frames", F_OK\) <stack( [0-9a-f]+)+>'
	echo raw > "$p/stacks"
	records mark /raw
	reads "stacks: raw" 'access\("/raw", F_OK\) <raw stack of [0-9]+ bytes>'
	echo none > "$p/stacks"
	records mark /none
	reads "stacks: none" 'access\("/none", F_OK\)'
	end
	quiet "$own"
}

begin
follow "$own" "$actor"
test_calls
test_long
test_largest
test_events
test_choice
test_one_stop
test_args
test_stacks
plan
