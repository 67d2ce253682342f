#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - several instances at once, other listeners, and removal
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor reopen

a=$(instance one)
b=$(instance two)
c=$(instance three)
trap 'rmdir "$tracing"/instances/{one,two,three} 2> /dev/null; rm -rf "$tmp"' EXIT

# once DIR NAME: check that the instance has recorded the mark once
once() {
	is 1 count "$1/trace" "\"?/$2\"?'?.*"
}

never() {
	is 0 count "$1/trace" "/$2"
}

test_own() {
	begin
	follow "$a" "$actor"
	follow "$b" "$$"
	follow "$tracing" "$actor"
	echo access > "$tracing/process/syscalls"
	do_it call 39
	do_it mark /own
	holds "one instance has its target's" once "$a" own
	holds "the top level has it too" once "$tracing" own
	holds "another has not" never "$b" own
	holds "one instance has all calls" has "$a/trace" 'getpid\(\)'
	holds "the top level has those of its own" hasnt "$tracing/trace" 'getpid'
	holds "another has its own target's" has "$b/trace" "-$$ +\\["
	: > "$tracing/process/syscalls"
	quiet "$tracing"
	do_it mark /still
	holds "one goes on when another ends" once "$a" still
	holds "nothing is recorded after the end" never "$tracing" still
	quiet "$a"
	quiet "$b"
	end
}

# A listener to the events has those of all instances, each event once.
test_union() {
	begin
	echo 1 > "$c/events/utrace/enable"
	follow "$a" "$actor"
	follow "$b" "$actor $$"
	do_it mark /union
	holds "two instances and a listener: one" once "$a" union
	holds "two instances and a listener: two" once "$b" union
	holds "the listener has it once" once "$c" union
	holds "the listener has what one alone follows" has "$c/trace" "-$$ +\\["
	echo 1 > "$a/events/utrace/enable"
	do_it mark /both
	holds "tracer and event in one: once" once "$a" both
	holds "the others as before: two" once "$b" both
	holds "the others as before: the listener" once "$c" both
	holds "tracer and event in one: its own pids" hasnt "$a/trace" "-$$ +\\["
	echo actor > "$a/process/comms"
	echo > "$a/set_event_pid"
	do_it mark /by-name
	holds "tracer and event in one: its own names" hasnt "$a/trace" "-$$ +\\["
	holds "and these once" once "$a" by-name
	: > "$a/process/comms"
	echo "$actor" > "$a/set_event_pid"
	echo 0 > "$a/events/utrace/enable"
	echo mark > "$b/process/comms"
	do_it mark /rejected
	holds "a target less: one" once "$a" rejected
	holds "a target less: two" never "$b" rejected
	holds "a target less: the listener" once "$c" rejected
	: > "$b/process/comms"
	echo 0 > "$c/events/utrace/enable"
	quiet "$a"
	quiet "$b"
	do_it mark /after
	holds "no tracer, no events" never "$c" after
	echo > "$c/trace"
	end
}

test_detach() {
	local k

	begin
	# This listener would record calls after the end of the tracer.
	echo 1 > "$c/events/utrace/enable"
	for k in 1 2 3 4 5; do
		follow "$a" "$actor"
		do_it mark "/during$k"
		echo nop > "$a/current_tracer"
		do_it mark "/after$k"
		holds "detach: no further record ($k)" never "$c" "after$k"
	done
	holds "detach: there were some before" once "$c" during5
	holds "detach: no engine" is "" engine_events "$actor"
	echo 0 > "$c/events/utrace/enable"
	echo > "$c/trace"
	end
}

# A ring of one page for each CPU, which overwrites or becomes full.
test_full() {
	local before

	begin
	echo 4 > "$a/buffer_size_kb"
	follow "$a" "$actor"
	follow "$b" "$actor"
	do_it call 102 2000
	holds "full: lost records are counted" eval '[ "$(lost "$a")" -gt 1000 ]'
	holds "full: the last ones are there" has "$a/trace" 'getuid'
	holds "full: in that instance alone" is 0 lost "$b"
	holds "full: the other has all of them" is 2000 count "$b/trace" 'getuid\(\)'
	echo 0 > "$a/options/overwrite"
	echo > "$a/trace"
	do_it call 102 2000
	holds "full, no overwriting: counted" eval '[ "$(lost "$a")" -gt 1000 ]'
	before=$(count "$a/trace" getuid)
	holds "full, no overwriting: the first ones are there" [ "$before" -gt 10 ]
	echo 1 > "$a/options/overwrite"
	quiet "$a"
	quiet "$b"
	end
}

test_remove() {
	begin
	follow "$a" "$actor"
	follow "$b" "$actor"
	do_it mark /there
	holds "removed while it traces" rmdir "$a"
	do_it mark /gone
	holds "the other goes on" once "$b" gone
	holds "one engine is left" is 1 eval 'engine_events "$actor" | wc -l'
	a=$(instance one)
	holds "a new one of that name knows nothing" is "" cat "$a/set_event_pid"
	follow "$a" "$actor"
	do_it mark /anew
	holds "and traces" once "$a" anew
	# A few functions that matter little here.
	echo kernel_halt > "$b/set_ftrace_filter"
	echo function > "$b/current_tracer"
	do_it mark /switched
	holds "switched to another tracer" never "$b" switched
	echo process > "$b/current_tracer"
	do_it mark /back
	holds "and back" once "$b" back
	holds "and the targets are still known" is "$actor" cat "$b/set_event_pid"
	end
	holds "the target is dead" has "$b/trace" '\+\+\+ exited with 0'
	holds "its end is recorded there" has "$a/trace" '\+\+\+ exited with 0'
	quiet "$a"
	quiet "$b"
}

# refused: check that the removal of the instance fails with EBUSY
refused() {
	local said

	said=$(rmdir "$a" 2>&1) && { echo "it is removed"; return 1; }
	[[ $said == *"resource busy"* ]] || { echo "$said"; return 1; }
}

# said: read a line of the program that opens files
said() {
	local line

	read -r -t $((30 * patience)) line <&7 && echo "$line"
}

# An open file keeps its instance; a removed file cannot be opened.
test_open() {
	local f

	begin
	follow "$a" "$actor"
	for f in "$a"/process/*; do
		f=${f##*/}
		exec 7<> "$a/process/$f"
		holds "open, it keeps the instance: $f" refused
		holds "and can be read: $f" eval 'cat <&7 > /dev/null'
		exec 7>&-
	done
	do_it mark /kept
	holds "the instance is as before" once "$a" kept
	mkfifo "$tmp/reopen-in" "$tmp/reopen-out"
	"$bin/reopen" "$a"/process/* < "$tmp/reopen-in" > "$tmp/reopen-out" &
	exec 6> "$tmp/reopen-in" 7< "$tmp/reopen-out"
	holds "files that are found and not opened" is "9 of 9" said
	echo >&6
	holds "can be opened" is "0: 9 of 9" said
	holds "but do not keep the instance" rmdir "$a"
	echo >&6
	holds "when it is gone it is ENODEV" is "19: 9 of 9" said
	a=$(instance one)
	echo >&6
	holds "when there is another one of that name" said
	holds "nothing is left open there" rmdir "$a"
	a=$(instance one)
	exec 6>&- 7<&-
	wait $!
	end
}

test_own
test_union
test_detach
test_full
test_remove
test_open
plan
