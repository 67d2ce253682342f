#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - other tools read what the tracer records
#
# The tools are trace-cmd, perf, BPF programs, filters and histograms.
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor bpf

own=$(instance tools)
other=$(instance tools2)
events=$own/events/utrace
trap 'rmdir "$own" "$other" 2> /dev/null; rm -rf "$tmp"' EXIT
cd "$tmp" || exit

report() {
	trace-cmd report -i "$tmp/trace.dat" > "$tmp/report" 2> "$tmp/errors"
}

# reported REGEX: check for a record whose fields libtraceevent has read
reported() {
	has "$tmp/report" "$1" || { tail -n 20 "$tmp/report" "$tmp/errors"; return 1; }
}

test_record_command() {
	holds "trace-cmd record -F" trace-cmd record -q -o "$tmp/trace.dat" \
		-p process -F cat /etc/hostname
	holds "trace-cmd report" report
	holds "trace-cmd: what cat opens" reported \
		'cat-[0-9]+ .*utrace_sys_enter: .*openat.*/etc/hostname'
	holds "trace-cmd: a result and its time" reported \
		'cat-[0-9]+ .*utrace_sys_exit: .*openat = [0-9]+ \([0-9]+ ns\)'
	holds "trace-cmd: the exec" reported 'utrace_exec: .*filename=.*/cat pid='
	holds "trace-cmd: no other task" is "" eval \
		"grep utrace_sys_enter $tmp/report | grep -vE '^ +cat-|trace-cmd-|<\\.\\.\\.>'"
	holds "trace-cmd: all fields are read" eval \
		"! grep -E 'bad op|Error|FAILED|\\[UNKNOWN' $tmp/report $tmp/errors"
	holds "trace-cmd: with the children" trace-cmd record -q \
		-o "$tmp/trace.dat" -p process -c -F sh -c 'cat /etc/hostname; exit 0'
	report
	holds "trace-cmd: what the child opens" reported 'openat.*/etc/hostname'
	holds "trace-cmd: its fork" reported 'utrace_fork: .*child_pid='
}

test_record_pid() {
	local job

	begin
	trace-cmd record -q -o "$tmp/trace.dat" -p process -P "$actor" -c \
		> "$tmp/said" 2>&1 &
	job=$!
	await eval '[ "$(engine_events "$actor")" != "" ]'
	await eval 'engine_events "$actor" | grep -v -x -- -'
	# trace-cmd chooses the tracer first and starts to record then.
	await grep -q 1 "$tracing/tracing_on"
	do_it child /of-child 3
	do_it mark /of-parent
	kill -INT $job
	holds "trace-cmd record -P -c" wait $job
	report
	holds "trace-cmd: records of the task" reported "actor-$actor .*access.*/of-parent"
	holds "trace-cmd: records of its child" reported 'access.*/of-child'
	holds "trace-cmd: no other task" is "" eval \
		"grep utrace_ $tmp/report | grep -vE '^ +actor-'"
	trace-cmd reset > /dev/null 2>&1
	end
}

test_perf() {
	begin
	follow "$own" "$actor"
	perf record -q -a -o "$tmp/perf.data" -e utrace:utrace_sys_enter \
		-- bash -c "echo mark /of-perf >&8; read -r <&9" 8>&8 9<&9 2> "$tmp/errors"
	holds "perf: record has the event" eval \
		"perf script -i $tmp/perf.data 2> /dev/null | tee $tmp/script |
			grep -c /of-perf | grep -x 1"
	holds "perf: records of the task" has "$tmp/script" "^ *actor +$actor .*access"
	echo > "$tmp/stat"
	perf stat -a -x , -o "$tmp/stat" -e utrace:utrace_sys_enter \
		--filter 'id == 102' -- bash -c "echo call 102 50 >&8; read -r <&9"
	holds "perf: stat counts each call once" has "$tmp/stat" '^50,'
	quiet "$own"
	end
}

test_filter() {
	begin
	follow "$own" "$actor"
	do_it mark /filter-a
	echo 'str1 ~ "/filter-*"' > "$events/utrace_sys_enter/filter"
	echo 1 > "$events/utrace_sys_enter/enable"
	echo > "$own/trace"
	do_it mark /filter-b
	do_it mark /other
	holds "a filter of a string: what fits" is 1 count "$own/trace" '/filter-b'
	holds "a filter of a string: what does not" hasnt "$own/trace" '/other'
	echo 0 > "$events/utrace_sys_enter/filter"
	echo 0 > "$events/utrace_sys_enter/enable"
	echo 'id == 102' > "$events/utrace_sys_enter/filter"
	echo > "$own/trace"
	do_it call 102 3
	do_it mark /other
	holds "a filter of the tracer's records" is 3 count "$own/trace" 'getuid\(\)'
	holds "a filter of the tracer's records: no other call" \
		hasnt "$own/trace" '/other'
	echo 0 > "$events/utrace_sys_enter/filter"
	quiet "$own"
	end
}

# Calls without captured strings, whose records are written in place unless the event has a
# filter or a trigger.
test_filter_of_plain() {
	begin
	follow "$own" "$actor"
	echo > "$own/trace"
	do_it call 104 3
	holds "calls without strings are recorded" is 3 count "$own/trace" 'getgid\(\)'
	echo 'id == 102' > "$events/utrace_sys_enter/filter"
	echo 'ret < 0' > "$events/utrace_sys_exit/filter"
	echo > "$own/trace"
	do_it call 102 3
	do_it call 104 3
	do_it call 3 3
	holds "a filter of entries: what fits" is 3 count "$own/trace" 'getuid\(\)'
	holds "a filter of entries: what does not" hasnt "$own/trace" 'getgid\(\)'
	holds "a filter of exits: what fits" is 3 count "$own/trace" \
		'close resumed> = -1 EBADF'
	holds "a filter of exits: what does not" hasnt "$own/trace" 'get[ug]id resumed'
	echo 0 > "$events/utrace_sys_enter/filter"
	echo 0 > "$events/utrace_sys_exit/filter"
	echo 'traceoff if id == 104' > "$events/utrace_sys_enter/trigger"
	echo > "$own/trace"
	do_it call 102 1
	holds "a trigger: no call fits" is 1 cat "$own/tracing_on"
	do_it call 104 1
	holds "a trigger: a call fits" is 0 cat "$own/tracing_on"
	echo '!traceoff if id == 104' > "$events/utrace_sys_enter/trigger"
	echo 1 > "$own/tracing_on"
	do_it call 104 1
	holds "a trigger that was removed" is 1 cat "$own/tracing_on"
	quiet "$own"
	end
}

test_hist() {
	begin
	follow "$own" "$actor"
	echo 'hist:keys=id' > "$events/utrace_sys_enter/trigger"
	echo 'hist:keys=id:vals=duration if ret < 0' > "$events/utrace_sys_exit/trigger"
	do_it call 102 40
	do_it open /no-such-file
	do_it open /etc/passwd
	holds "a histogram of calls" has "$events/utrace_sys_enter/hist" \
		'id: +102 .*hitcount: +40$'
	holds "a histogram of times, if they fail" has "$events/utrace_sys_exit/hist" \
		'id: +257 .*hitcount: +1 +duration: +[0-9]+$'
	holds "the calls are recorded, too" is 40 count "$own/trace" 'getuid\(\)'
	echo $$ > "$own/set_event_pid"
	echo 'hist:keys=id:clear' >> "$events/utrace_sys_enter/trigger"
	echo "$actor" > "$other/set_event_pid"
	echo process > "$other/current_tracer"
	do_it call 102 40
	holds "it has no targets of another instance" \
		hasnt "$events/utrace_sys_enter/hist" 'id: +102 '
	quiet "$other"
	echo '!hist:keys=id' > "$events/utrace_sys_enter/trigger"
	echo '!hist:keys=id:vals=duration if ret < 0' > "$events/utrace_sys_exit/trigger"
	quiet "$own"
	end
}

# offset FIELD: print the offset of a field in the event's format
offset() {
	sed -n "s/.*field:$1;.*offset:\\([0-9]*\\);.*/\\1/p" "$events/utrace_sys_enter/format"
}

test_bpf() {
	local said

	begin
	follow "$own" "$actor"
	mkfifo "$tmp/bpf-in" "$tmp/bpf-out"
	"$bin/bpf" "$(< "$events/utrace_sys_enter/id")" "$(offset 'long id')" 102 \
		< "$tmp/bpf-in" > "$tmp/bpf-out" 8>&- 9<&- &
	exec 6> "$tmp/bpf-in" 7< "$tmp/bpf-out"
	read -r -t $((20 * patience)) said <&7
	holds "a BPF program is attached" [ "$said" = ready ]
	do_it call 102 25
	echo >&6
	read -r -t $((20 * patience)) said <&7
	holds "it counts the records" is 25 echo "$said"
	exec 6>&- 7<&-
	if ! skip "bpftrace" bpftrace; then
		bpftrace -e 'tracepoint:utrace:utrace_sys_enter /args->id == 102/ { @n = count(); }
			BEGIN { printf("ready\n"); }' > "$tmp/bpftrace" 8>&- 9<&- &
		said=$!
		await grep ready "$tmp/bpftrace"
		do_it call 102 25
		kill -INT $said
		wait $said
		holds "bpftrace" has "$tmp/bpftrace" '^@n: 25$'
	fi
	quiet "$own"
	end
}

skip "trace-cmd" trace-cmd || { test_record_command; test_record_pid; }
skip "perf" perf || test_perf
test_filter
test_filter_of_plain
test_hist
test_bpf
plan
