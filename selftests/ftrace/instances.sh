#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - several instances at once, instances with only events, and
# removal
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
	holds "an instance records its target" once "$a" own
	holds "the top level records its target" once "$tracing" own
	holds "another instance does not record it" never "$b" own
	holds "an instance records all calls" has "$a/trace" 'getpid\(\)'
	holds "the top level records only its calls" hasnt "$tracing/trace" 'getpid'
	holds "another instance records its own target" has "$b/trace" "-$$ +\\["
	: > "$tracing/process/syscalls"
	quiet "$tracing"
	do_it mark /still
	holds "an instance goes on when the tracer of another ends" once "$a" still
	holds "no record after the end of a tracer" never "$tracing" still
	quiet "$a"
	quiet "$b"
	end
}

# An instance with only the events enabled (the listener) gets those of all
# instances, each event once.
test_union() {
	begin
	echo 1 > "$c/events/utrace/enable"
	follow "$a" "$actor"
	follow "$b" "$actor $$"
	do_it mark /union
	holds "two instances and a listener: one" once "$a" union
	holds "two instances and a listener: two" once "$b" union
	holds "two instances and a listener: the listener" once "$c" union
	holds "the listener gets a target of one instance, too" has "$c/trace" "-$$ +\\["
	echo 1 > "$a/events/utrace/enable"
	do_it mark /both
	holds "tracer and event in one: once" once "$a" both
	holds "tracer and event in one: two" once "$b" both
	holds "tracer and event in one: the listener" once "$c" both
	holds "tracer and event in one: its own pids" hasnt "$a/trace" "-$$ +\\["
	echo actor > "$a/process/comms"
	echo > "$a/set_event_pid"
	do_it mark /by-name
	holds "tracer and event in one: its own names" hasnt "$a/trace" "-$$ +\\["
	holds "tracer and event in one: its names once" once "$a" by-name
	: > "$a/process/comms"
	echo "$actor" > "$a/set_event_pid"
	echo 0 > "$a/events/utrace/enable"
	echo mark > "$b/process/comms"
	do_it mark /rejected
	holds "one rejects a target: the other instance" once "$a" rejected
	holds "one rejects a target: that instance" never "$b" rejected
	holds "one rejects a target: the listener" once "$c" rejected
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
	holds "detach: records before that" once "$c" during5
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
	holds "full: the last records are kept" has "$a/trace" 'getuid'
	holds "full: the other instance loses none" is 0 lost "$b"
	holds "full: the other instance has all records" is 2000 count "$b/trace" 'getuid\(\)'
	echo 0 > "$a/options/overwrite"
	echo > "$a/trace"
	do_it call 102 2000
	holds "full, no overwriting: lost records are counted" eval '[ "$(lost "$a")" -gt 1000 ]'
	before=$(count "$a/trace" getuid)
	holds "full, no overwriting: the first records are kept" [ "$before" -gt 10 ]
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
	holds "an instance is removed while it traces" rmdir "$a"
	do_it mark /gone
	holds "the other instance goes on" once "$b" gone
	holds "one engine is left" is 1 eval 'engine_events "$actor" | wc -l'
	a=$(instance one)
	holds "a new instance of that name has no targets" is "" cat "$a/set_event_pid"
	follow "$a" "$actor"
	do_it mark /anew
	holds "a new instance of that name traces" once "$a" anew
	# A few functions that matter little here.
	echo kernel_halt > "$b/set_ftrace_filter"
	echo function > "$b/current_tracer"
	do_it mark /switched
	holds "another tracer: no record" never "$b" switched
	echo process > "$b/current_tracer"
	do_it mark /back
	holds "the tracer again: recorded" once "$b" back
	holds "the tracer again: it has its targets" is "$actor" cat "$b/set_event_pid"
	end
	holds "the end of the target is recorded" has "$b/trace" '\+\+\+ exited with 0'
	holds "the other instance records it, too" has "$a/trace" '\+\+\+ exited with 0'
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
		holds "an open file keeps the instance: $f" refused
		holds "an open file can be read: $f" eval 'cat <&7 > /dev/null'
		exec 7>&-
	done
	do_it mark /kept
	holds "the instance still traces" once "$a" kept
	mkfifo "$tmp/reopen-in" "$tmp/reopen-out"
	"$bin/reopen" "$a"/process/* < "$tmp/reopen-in" > "$tmp/reopen-out" &
	exec 6> "$tmp/reopen-in" 7< "$tmp/reopen-out"
	holds "files are found and not opened" is "9 of 9" said
	echo >&6
	holds "these files can be opened" is "0: 9 of 9" said
	holds "these files do not keep the instance" rmdir "$a"
	echo >&6
	holds "without the instance: ENODEV" is "19: 9 of 9" said
	a=$(instance one)
	echo >&6
	holds "with a new instance of that name: an answer" said
	holds "no file of the new instance is open" rmdir "$a"
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
