#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - gdb, strace and LeakSanitizer on one program, as in ptrace.rst
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

# has FILE TEXT...: are all the texts in the file?
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
holds "and sees the threads" grep -q '^[* ] 2 .*Thread' "$tmp/gdb"
holds "and stops at a watchpoint" has "$tmp/gdb" 'hit Hardware watchpoint 2: work_count' \
	'Old value = '
holds "and hears of the end" has "$tmp/gdb" 'exited with code 07'
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
holds "and has no complaint" hasnt "$tmp/gdb" '[Ee]rror|Could not|Couldn|ptrace:'
touch "$tmp/stop"
wait "${jobs[0]}"
holds "the program ends as always" test $? = 7
holds "strace has seen all" has "$tmp/strace" 'exited with 7'
jobs=()

# LeakSanitizer attaches to the threads of the program from a process of its own.
timeout $((60 * patience)) strace -f -o "$tmp/strace" "$bin/leaky" leak > "$tmp/leaky" 2>&1
holds "LeakSanitizer ends the program under strace" test $? = 23
holds "and finds the leak" has "$tmp/leaky" '100 byte(s) leaked in 1 allocation(s)'

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

# logs_are_equal: do both see as much of each process?
logs_are_equal() {
	local log count=0

	for log in "$tmp"/a.*; do
		# What was before both were there differs.
		[ "${log##*.}" = "$tree" ] && sed -i "1,/mark/d" "$log" "$tmp/b.$tree"
		diff "$log" "$tmp/b.${log##*.}" || return 1
		count=$((count + 1))
	done
	if [ "$count" -le 20 ] || [ "$count" != "$(find "$tmp" -name 'b.*' | wc -l)" ]; then
		echo "$count processes"
		return 1
	fi
}
holds "two strace -f see the same" logs_are_equal
jobs=()
plan
