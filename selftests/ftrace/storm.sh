#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - three instances under a storm of settings
#
# The instances are turned on and off, changed, removed and made again while
# tasks fork, execute and exit. A fourth instance gets invalid texts, and its
# readers are killed. The kernel log must have no complaint, either.
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor threads

trap 'rm -f "$tmp/on"; wait; rmdir "$tracing"/instances/storm* 2> /dev/null; rm -rf "$tmp"' EXIT
: > "$tmp/on"
# This instance keeps the core's probes in place: under an emulator with two
# CPUs, a CPU may execute what the patching of code leaves in memory for a
# moment.
keep=$(instance stormkeep)
echo nobody > "$keep/process/comms"
echo process > "$keep/current_tracer"
rounds=4

on() {
	[ -e "$tmp/on" ]
}

# pick WORD...: print one of the words
pick() {
	shift $((RANDOM % $#))
	echo "$1"
}

# Tasks that come and go; each function makes tasks of one kind.
work_exec() {
	while on; do
		/bin/true
		(:)
		/bin/echo | /bin/cat > /dev/null
		echo >> "$tmp/work"
	done
}

work_threads() {
	while on; do
		printf '\n\n' | "$bin/threads" 8 20 > /dev/null
		echo >> "$tmp/work"
	done
}

change() {
	local p=$1/process

	case $((RANDOM % 10)) in
	0) pick "true" threads storm > "$p/comms" ;;
	1) : > "$p/comms" ;;
	2) pick 'sys_enter sys_exit' 'stat exit' 'fork exec signal sys_enter stat' > "$p/events" ;;
	3) pick 'openat read' '!read' '' > "$p/syscalls" ;;
	4) pick frames raw none > "$p/stacks" ;;
	5) pick strings buffers '' > "$p/args" ;;
	6) pick /bin/true "$bin/threads" > "$p/exes" ;;
	7) : > "$p/exes" ;;
	8) pick "" "$worker" > "$1/set_event_pid" ;;
	# Read a part only: reading is recorded too, so there may be no end.
	9) head -n 50 "$1/trace" "$p/stat" > /dev/null; echo > "$p/stat" ;;
	esac
}

# storm N: make, change and remove one instance again and again
storm() {
	local dir=$tracing/instances/storm$1 round i

	RANDOM=$1
	for ((round = 0; round < rounds; round++)); do
		mkdir "$dir" || return 1
		echo $((RANDOM % 2)) > "$dir/options/event-fork"
		for i in 1 2 3 4; do
			pick process process process nop > "$dir/current_tracer"
			change "$dir"
			change "$dir"
			echo nop > "$dir/current_tracer"
		done
		# Some instances are removed with the tracer on.
		pick process nop > "$dir/current_tracer"
		change "$dir"
		await rmdir "$dir" || return 1
	done
}

# Texts that most files refuse: too long, no words, unknown numbers and names.
mapfile -t texts < <(
	printf 'x%.0s' {1..5000} && echo
	printf '%d ' {1..2000} && echo
	printf '%s\n' $'\001\002\377' -1 99999999999999999999 !2 +0 ! '"open' '  ' \
		i386/999 0:0 '*' /nonexistent
)

# bad_texts: write such texts to an instance, and kill the reader of its records
bad_texts() {
	local dir=$tracing/instances/stormbad round file reader i

	RANDOM=4
	for ((round = 0; round < rounds; round++)); do
		mkdir "$dir" || return 1
		echo true > "$dir/process/comms"
		echo process > "$dir/current_tracer"
		cat "$dir/trace_pipe" > /dev/null &
		reader=$!
		for i in 1 2 3; do
			for file in "$dir"/process/*; do
				pick "${texts[@]}" > "$file"
				printf %s "$(pick "${texts[@]}")" >> "$file"
				head -c 5000 "$file" > /dev/null
			done
		done
		kill -KILL "$reader"
		wait "$reader"
		await rmdir "$dir" || return 1
	done
}

work_exec &
worker=$!
work_threads &
for k in 1 2 3; do
	storm $k 2> "$tmp/errors$k" &
	storms+=($!)
done
# Errors are expected here.
bad_texts 2> /dev/null &
bad=$!
for k in 0 1 2; do
	holds "storm $((k + 1)) is over" wait "${storms[k]}"
	holds "storm $((k + 1)): nothing was refused" eval \
		"! grep -v 'busy' $tmp/errors$((k + 1))"
done
holds "bad texts are over" wait "$bad"
rm "$tmp/on"
holds "the work was done in parallel" [ -s "$tmp/work" ]
wait
rmdir "$keep"
holds "no instance is left" is "" eval 'ls "$tracing/instances" | grep storm'
holds "no engine is left" is "" eval 'grep -h ^ftrace /proc/[0-9]*/utrace 2> /dev/null'

# After the storm a new instance works.
own=$(instance storm)
begin
follow "$own" "$actor"
do_it mark /after
holds "the tracer still works" has "$own/trace" 'access\("/after", F_OK\)'
end
quiet "$own"
plan
