#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - process/stat: counts and times by task and call
# shellcheck disable=SC2016 # eval gets expressions
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built actor

own=$(instance stat)
p=$own/process
trap 'rmdir "$own"; rm -rf "$tmp"' EXIT

# row CALL: print the actor's line for the call
row() {
	awk -v pid="$actor" -v call="$1" '$1 == pid && $3 == call && $4 != "now"' "$p/stat"
}

# field CALL N: print word N of the actor's line; word 4 is the count
field() {
	row "$1" | awk -v n="$2" '{ print $n }'
}

# now: print the call that the actor is in
now() {
	awk -v pid="$actor" '$1 == pid && $4 == "now" { print $3 }' "$p/stat"
}

age() {
	awk -v pid="$actor" '$1 == pid && $4 == "now" { print $6 }' "$p/stat"
}

# adds_up CALL: check that the times in us, least, most and sum, are consistent
adds_up() {
	row "$1" | awk '{ exit !($7 <= $8 && $7 * $4 <= $6 && $6 <= ($8 + 1) * $4) }' ||
		{ row "$1"; return 1; }
}

# in_buckets CALL: check that the buckets together contain all calls
in_buckets() {
	is "$(field "$1" 4)" eval \
		"field $1 10 | tr , '\n' | awk -F : '{ n += \$2 } END { print n }'"
}

test_counts() {
	begin
	echo stat > "$p/events"
	follow "$own" "$actor"
	do_it call 102 300
	do_it open /no-such-file
	do_it open /etc/passwd
	do_it open /no-such-file
	do_it i386 24
	do_it call 9999
	do_it call $((0x80000027))
	do_it call $((0xdfffffff))
	do_it call $((0x20000014))
	holds "calls are counted" is 300 field getuid 4
	holds "successes are not errors" is 0 field getuid 5
	holds "errors are counted" is "3 2" eval 'row openat | awk "{ print \$4, \$5 }"'
	holds "a 32-bit call has its own count" is 1 field i386/getuid 4
	holds "numbers that no table has share one line" is 4 \
		eval 'row "(no" | awk "{ print \$6 }"'
	holds "times add up" adds_up getuid
	holds "times of failing calls add up" adds_up openat
	holds "buckets add up" in_buckets getuid
	holds "the name of the task" is actor field getuid 2
	holds "without cpu, no CPU time" is - field getuid 9
	holds "no calls are recorded" is 0 eval 'plain "$own/trace" | wc -l'
	await eval '[ "$(now)" = read ]'
	holds "the call that the task is in" is read now
	holds "the age of that call grows" eval 'old=$(age); sleep 0.1; [ "$(age)" != "$old" ]'
}

# A sleeping call takes long and uses no CPU, a working one uses the CPU.
test_cpu() {
	local cpu

	echo cpu >> "$p/events"
	echo > "$p/stat"
	echo pause >&8
	await eval '[ "$(now)" = pause ]'
	sleep 0.5
	kill -USR1 "$actor"
	read -r -t $((30 * patience)) <&9
	holds "a sleeping call takes long" eval '[ "$(field pause 6)" -gt 400000 ]'
	cpu=$(field pause 9)
	holds "a sleeping call uses little CPU" [ "${cpu:-400000}" -lt 400000 ]
	do_it zeros 67108864
	holds "a working call uses CPU" eval '[ "$(field read 9)" -gt 1000 ]'
	holds "a call uses no more CPU than it takes" eval \
		'row read | awk "{ exit !(\$9 <= \$6 + \$4) }"'
	echo '!cpu' >> "$p/events"
	echo > "$p/stat"
	do_it call 102 5
	holds "cpu is removed: no CPU time" is - field getuid 9
	echo cpu > "$p/events"
	do_it call 102 5
	holds "cpu without stat: no call is counted" is 5 field getuid 4
	echo stat > "$p/events"
}

test_reset() {
	echo > "$p/stat"
	holds "a write resets" is "" row getuid
	do_it call 102 5
	holds "a write restarts the counts" is 5 field getuid 4
	holds "a write restarts the times" adds_up getuid
	echo '!stat' >> "$p/events"
	do_it call 102 5
	holds "without stat: no call is counted" is 5 field getuid 4
	echo sys_exit > "$p/events"
	do_it call 102 5
	holds "without stat: calls are recorded" is 5 eval 'plain "$own/trace" | grep -c getuid'
	holds "without stat: recorded calls are not counted" is 5 field getuid 4
	echo stat >> "$p/events"
	do_it call 102 5
	holds "stat and sys_exit: counted" is 10 field getuid 4
	holds "stat and sys_exit: recorded" is 10 eval 'plain "$own/trace" | grep -c getuid'
	end
	holds "a dead task is still shown" is 10 field getuid 4
	holds "a dead task is shown with its name" is actor field getuid 2
	holds "a dead task is in no call" is "" now
	echo > "$p/stat"
	holds "a dead task is shown until the next reset" is 0 eval 'plain "$p/stat" | wc -l'
	quiet "$own"
}

# Every task and every instance has counts of its own.
test_apart() {
	local other

	other=$(instance stat2)
	begin
	echo stat > "$p/events"
	echo stat > "$other/process/events"
	echo getuid > "$other/process/syscalls"
	echo 1 > "$own/options/event-fork"
	follow "$own" "$actor"
	follow "$other" "$actor"
	do_it call 102 7
	do_it call 104 3
	do_it child /child 0
	holds "an instance counts only its calls" is 1 \
		eval 'plain "$other/process/stat" | grep -vc " now "'
	holds "the other instance counts all calls" is "7 3" \
		eval 'echo $(field getuid 4) $(field getgid 4)'
	holds "a child has counts of its own" is 1 eval \
		'plain "$p/stat" | awk -v pid="$actor" "\$1 != pid && \$3 == \"access\"" | wc -l'
	end
	quiet "$own"
	quiet "$other"
	rmdir "$other"
}

# objects: print the number of objects of the sizes of a count and of a task
objects() {
	awk '$1 ~ /^kmalloc-(cg-)?(256|512)$/ { n += $2 } END { print n + 0 }' /proc/slabinfo
}

# The counts of a task are freed although its end is not followed.
test_sweep() {
	local before grown

	echo > "$p/stat"
	echo sys_enter > "$p/events"
	echo brief > "$p/comms"
	echo process > "$own/current_tracer"
	begin
	do_it renamed brief 100
	before=$(objects)
	do_it renamed brief 2000
	holds "2000 tasks were followed for a while" is 2100 count "$own/trace" ': getuid\(\)$'
	holds "their ends are not recorded" hasnt "$own/trace" 'exited'
	# The objects are freed after a grace period.
	await eval '[ $(($(objects) - before)) -lt 1000 ]'
	grown=$(($(objects) - before))
	holds "their objects are freed" eval "echo $grown; [ $grown -lt 1000 ]"
	holds "stat does not show them" is "" plain "$p/stat"
	end
	: > "$p/comms"
	quiet "$own"
}

merged() {
	awk '$2 == "merged:" { print $3 }' "$p/stat"
}

# Dead tasks stay in the file until there are 65536 pairs of a task and a call.
test_bound() {
	local calls

	echo > "$p/stat"
	echo stat > "$p/events"
	begin
	echo 1 > "$own/options/event-fork"
	follow "$own" "$actor"
	calls=$(act many 10)
	holds "dead tasks are shown" is 10 eval "plain $p/stat | grep -c ' gettid '"
	holds "no dead task is merged yet" is 0 merged
	plain "$p/stat" | awk '$3 == "gettid" { print $1; exit }' > "$tmp/first"
	do_it many $((65536 / calls + 50))
	plain "$p/stat" > "$tmp/stat"
	holds "at most 65536 pairs are shown" eval \
		'wc -l < $tmp/stat; [ "$(wc -l < $tmp/stat)" -le 65536 ]'
	holds "nearly 65536 pairs are shown" [ "$(wc -l < "$tmp/stat")" -gt 65000 ]
	holds "the oldest dead tasks are merged" eval 'merged; [ "$(merged)" -ge 50 ]'
	holds "the oldest dead task is not shown" is 0 count "$tmp/stat" "^ *$(< "$tmp/first") "
	awk '$1 == 0 && $3 == "gettid" { print $2, $4 }' "$tmp/stat" > "$tmp/sum"
	holds "the sum has the merged tasks" is "(dead) $(merged)" cat "$tmp/sum"
	holds "no task is missing" is $((65536 / calls + 60)) eval \
		'awk '\''$3 == "gettid" { n += $4 } END { print n }'\'' $tmp/stat'
	holds "a task that is alive is shown" has "$tmp/stat" "^ *$actor actor +read "
	do_it call 102 3
	holds "a task that is alive is still counted" is 3 field getuid 4
	holds "no event is lost" eval 'head -n 3 "$p/stat" | grep "lost: 0 events"'
	echo > "$p/stat"
	holds "after a reset: no task is merged" is 0 merged
	do_it many 10
	holds "after a reset: there is room" is "10 0" eval \
		'echo $(plain "$p/stat" | grep -c " gettid ") $(merged)'
	echo 0 > "$own/options/event-fork"
	end
	quiet "$own"
}

test_counts
test_cpu
test_reset
test_apart
test_sweep
test_bound
plan
