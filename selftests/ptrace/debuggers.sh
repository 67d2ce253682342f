#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - gdb, strace, delve, PRoot and LeakSanitizer on one program
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_utrace
limit=/proc/sys/kernel/ptrace_max_tracers
[ -e "$limit" ] || skip_all "no $limit (UTRACE_PTRACE)"
for tool in gdb strace; do
	command -v "$tool" > /dev/null || skip_all "$tool is not installed"
done
# debuggee and leaky are in the folder of this test.
bin=$(cd "$(dirname "$0")" && pwd -P)
need_built debuggee leaky

before=$(cat "$limit")
jobs=()

# Leave the machine as it was.
clean_up() {
	kill "${jobs[@]}" 2> /dev/null
	touch "$tmp/stop"
	echo "$before" > "$limit"
	rm -rf "$tmp"
}
trap clean_up EXIT
echo 4 > "$limit"
export DEBUGINFOD_URLS=
gdb=(timeout $((60 * patience)) gdb -q -nx -nh -batch)

# has FILE TEXT...: check that all the texts are in the file
has() {
	local text

	for text in "${@:2}"; do
		grep -qF -- "$text" "$1" && continue
		echo "no '$text' in:"
		tail -n 30 "$1"
		return 1
	done
}

# strace traces gdb and what gdb runs: gdb is the second tracer of its program,
# which has asked for that by PTRACE_TRACEME.
strace -f -o "$tmp/strace" "${gdb[@]}" -ex 'break work' -ex run -ex bt \
	-ex 'info threads' -ex delete -ex 'watch work_count' -ex continue \
	-ex delete -ex continue --args "$bin/debuggee" run > "$tmp/gdb" 2>&1 < /dev/null
holds "gdb under strace stops at a breakpoint" has "$tmp/gdb" 'Breakpoint 1, work'
holds "gdb under strace sees the threads" grep -q '^[* ] 2 .*Thread' "$tmp/gdb"
holds "gdb under strace stops at a watchpoint" has "$tmp/gdb" \
	'hit Hardware watchpoint 2: work_count' 'Old value = '
holds "gdb under strace reports the end" has "$tmp/gdb" 'exited with code 07'
holds "strace sees gdb and its program" has "$tmp/strace" PTRACE_TRACEME getppid \
	'exited with 7'

# A program that strace has started.
strace -f -o "$tmp/strace" "$bin/debuggee" serve "$tmp" &
jobs+=($!)
await test -s "$tmp/pid"
pid=$(cat "$tmp/pid")
timeout $((60 * patience)) gcore -o "$tmp/core" "$pid" > "$tmp/gcore" 2>&1 < /dev/null
holds "gcore dumps a program under strace" has "$tmp/gcore" 'Saved corefile'
"${gdb[@]}" -ex 'thread apply all bt' "$bin/debuggee" "$tmp/core.$pid" > "$tmp/dump" 2>&1
holds "the dump is one of the program" has "$tmp/dump" 'in serve ()' 'in worker ('

"${gdb[@]}" -p "$pid" -ex 'break work' -ex continue -ex 'info threads' -ex bt -ex delete \
	-ex stepi -ex next -ex detach > "$tmp/gdb" 2>&1 < /dev/null
holds "gdb attaches to a program under strace" has "$tmp/gdb" 'Breakpoint 1, work' \
	'in worker (' "[Inferior 1 (process $pid) detached]"
holds "gdb reports no error under strace" hasnt "$tmp/gdb" '[Ee]rror|Could not|Couldn|ptrace:'
touch "$tmp/stop"
wait "${jobs[0]}"
holds "the program ends as always" test $? = 7
holds "strace has seen all" has "$tmp/strace" 'exited with 7'
jobs=()

# LeakSanitizer attaches to the threads of the program from a process of its own.
timeout $((60 * patience)) strace -f -o "$tmp/strace" "$bin/leaky" leak > "$tmp/leaky" 2>&1
holds "LeakSanitizer ends the program under strace" test $? = 23
holds "LeakSanitizer finds the leak" has "$tmp/leaky" '100 byte(s) leaked in 1 allocation(s)'

# Two strace follow a tree of processes, and see the same in each of them.
mkfifo "$tmp/go"
cat > "$tmp/tree" <<-END
	read -r < $tmp/go
	[ -e $tmp/mark ]
	for i in 1 2 3 4 5; do
		/bin/true
		(echo "\$i" | cat; exec /bin/true)
		/bin/sh -c '/bin/true; exit 3' &
		wait
	done > $tmp/out
END
bash "$tmp/tree" &
tree=$!
jobs+=("$tree")
for n_th in a b; do
	strace -ff -o "$tmp/$n_th" -p "$tree" 2> "$tmp/err.$n_th" &
	jobs+=($!)
	await grep -q attached "$tmp/err.$n_th"
done
echo > "$tmp/go"
wait "${jobs[@]}"

# logs_are_equal: check that both logs have as much of each process
logs_are_equal() {
	local log count=0

	for log in "$tmp"/a.*; do
		# The records before both had attached differ.
		[ "${log##*.}" = "$tree" ] && sed -i "1,/mark/d" "$log" "$tmp/b.$tree"
		diff "$log" "$tmp/b.${log##*.}" || return 1
		count=$((count + 1))
	done
	if [ "$count" -le 20 ] || [ "$count" != "$(find "$tmp" -name 'b.*' | wc -l)" ]; then
		echo "$count processes"
		return 1
	fi
}
holds "two strace -f see the same calls" logs_are_equal
jobs=()

# threads_are REGEX: check that the status of both threads has this line
threads_are() {
	[ "$(grep -lE -- "$1" "/proc/$pid/task"/*/status | wc -l)" = 2 ]
}

# strace attaches to a program of two threads that gdb holds at a breakpoint.
rm -f "$tmp/stop" "$tmp/pid"
mkfifo "$tmp/commands"
gdb -q -nx -nh "$bin/debuggee" < "$tmp/commands" > "$tmp/gdb" 2>&1 &
gdb_pid=$!
jobs+=("$gdb_pid")
exec 9> "$tmp/commands"
printf '%s\n' "set pagination off" "set confirm off" "break work" \
	"run serve $tmp" >&9
await has "$tmp/gdb" 'hit Breakpoint 1, work' > /dev/null
pid=$(cat "$tmp/pid")
holds "gdb holds two threads" await threads_are '^State:.*tracing stop'
strace -f -o "$tmp/strace" -p "$pid" 2> "$tmp/err" &
jobs+=($!)
holds "strace attaches to both" \
	await has "$tmp/err" "Process $pid attached with 2 threads"
holds "both have the two tracers" \
	threads_are "^Tracers:.$gdb_pid ${jobs[1]}\$"
holds "both threads stay stopped for gdb" threads_are '^State:.*tracing stop'
holds "strace sees no call" hasnt "$tmp/strace" 'getppid'
printf '%s\n' "delete" "continue" >&9
both_call() {
	[ "$(awk '/getppid/ { print $1 }' "$tmp/strace" | sort -u | wc -l)" = 2 ]
}
holds "strace sees the calls of both when gdb continues" await both_call
touch "$tmp/stop"
holds "gdb reports the end" await has "$tmp/gdb" 'exited with code 07'
echo "quit" >&9
exec 9>&-
wait "${jobs[@]}"
holds "strace logs the end" has "$tmp/strace" 'exited with 7'
jobs=()

# The debugger of Go attaches to a program under strace.
delve() {
	HOME=$tmp timeout $((60 * patience)) dlv attach "$pid" \
		--check-go-version=false --allow-non-terminal-interactive=true
}
text="delve attaches to a program under strace"
if ! skip "$text" dlv && ! skip "$text" "$bin/goroutines"; then
	rm -f "$tmp/pid"
	"$bin/goroutines" "$tmp/pid" &
	await test -s "$tmp/pid"
	pid=$(cat "$tmp/pid")
	strace -f -o "$tmp/strace" -p "$pid" 2> "$tmp/err" &
	jobs=("$pid" $!)
	await grep -q getppid "$tmp/strace"
	printf '%s\n' "break main.work" "continue" "goroutines" "continue" \
		"clearall" "exit" "n" | delve > "$tmp/dlv" 2>&1
	holds "$text" has "$tmp/dlv" 'Breakpoint 1 set' '> main.work()' \
		'* Goroutine' runtime.gopark
	# Both goroutines may reach the breakpoint at once, so that a stop
	# counts two calls.
	holds "delve counts the calls of two stops" \
		grep -Eq 'total:([2-9]|[1-9][0-9])' "$tmp/dlv"
	holds "delve reports no error" hasnt "$tmp/dlv" '[Ee]rror|failed|could not'
	holds "delve is gone, and strace is not" \
		grep -q "^TracerPid:.${jobs[1]}\$" "/proc/$pid/status"
	seen=$(count "$tmp/strace" getppid)
	# A SIGSTOP that delve has sent to stop a thread can come after delve has
	# left.  Delve sends SIGCONT to a program that it finds in the state T then,
	# but that of a program with strace is t.
	sees_more() {
		kill -CONT "$pid"
		[ "$(count "$tmp/strace" getppid)" -gt $((seen + 10)) ]
	}
	holds "the program goes on, and strace sees it" await sees_more
	kill -KILL "$pid"
	wait "${jobs[@]}" 2> /dev/null
	holds "strace logs the end of Go" has "$tmp/strace" 'killed by SIGKILL'
	jobs=()
fi

# PRoot changes the system calls of its program, which strace traces as well.
text="PRoot does its work under strace"
if ! skip "$text" proot; then
	strace -f -o "$tmp/strace" timeout $((60 * patience)) proot -i 7:7 id -u \
		> "$tmp/proot" 2>&1 < /dev/null
	holds "$text" grep -qx 7 "$tmp/proot"
	holds "strace sees the program of PRoot" has "$tmp/strace" 'geteuid('
fi

# attach PID: start a strace of the process; its pid is in $last
attach() {
	strace -o /dev/null -p "$1" 2> "$tmp/attach" &
	last=$!
	jobs+=("$last")
	await grep -q attached "$tmp/attach"
}

# ring: strace number two traces a shell, number one, which then becomes a
# strace of number two and of another process. With an argument, number two
# already has a tracer.
ring() {
	rm -f "$tmp/ring"
	mkfifo "$tmp/ring"
	sleep 1000 &
	jobs=($!)
	# shellcheck disable=SC2016 # for the shell
	bash -c 'read -r two < "$1"; exec strace -o /dev/null -p "$two" -p "$2"' \
		bash "$tmp/ring" "${jobs[0]}" 2> "$tmp/one" &
	one=$!
	jobs+=("$one")
	attach "$one"
	two=$last
	[ $# = 0 ] || attach "$two"
	echo "$two" > "$tmp/ring"
	await grep -q "Process ${jobs[0]} attached" "$tmp/one"
}
closes_no_circle() {
	has "$tmp/one" "PTRACE_SEIZE, $two" 'Resource deadlock avoided'
}
are_gone() {
	! kill -0 "$one" && ! kill -0 "$two"
}

# Two strace do not trace each other.
ring
holds "strace does not trace its own tracer" closes_no_circle
kill -KILL "$one" "$two"
holds "SIGKILL ends both" await are_gone
kill "${jobs[0]}"
wait "${jobs[@]}" 2> /dev/null
ring further
holds "strace does not trace its own tracer as a further one" closes_no_circle
kill -KILL "$one" "$two"
holds "SIGKILL ends both again" await are_gone
kill "${jobs[0]}"
wait "${jobs[@]}" 2> /dev/null
jobs=()
plan
