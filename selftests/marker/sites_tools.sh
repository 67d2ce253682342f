#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - 'utrace markers' beside perf and bpftrace, at one marker
#
# The program is Debian's Python, whose marker gc__start has a semaphore. Each line of
# its input is a collection, so each tool has to count the lines that the program gets
# while the tool is there.
#
# UTRACE= is the command; the default is the one in PATH.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"
[ -e "$tracing/uprobe_events" ] || skip_all "no uprobe_events in $tracing (UPROBE_EVENTS)"
file=$(readlink -f /usr/bin/python3)
[ -x "$file" ] || skip_all "no /usr/bin/python3"
# perf keeps a copy of the notes there.
export HOME=$tmp

begin_python() {
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	"$file" -u -c '
import gc, sys
gc.disable()
print("ready")
for line in sys.stdin:
    gc.collect(0)
    print("done")' < "$tmp/in" > "$tmp/out" &
	python=$!
	exec 8> "$tmp/in" 9< "$tmp/out"
	read -r -t $((30 * patience)) <&9
}

end_python() {
	exec 8>&- 9<&-
	wait "$python"
}

# collect N: have the program pass its marker N times
collect() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo >&8
		read -r -t $((30 * patience)) <&9 || return
	done
}

# semaphore: print that of the marker, as /proc/PID/mem has it
semaphore() {
	local at start=0

	at=$(readelf -n "$file" | sed -n '/Name: gc__start$/{ n; s/.*Semaphore: //p; }')
	! readelf -h "$file" | grep -q 'Type: *DYN' ||
		start=0x$(grep -m 1 "$file" "/proc/$python/maps" | cut -d - -f 1)
	dd if="/proc/$python/mem" bs=1 skip=$((start + at)) count=2 status=none |
		od -A n -t u2 | tr -d ' '
}

# Each tool has three functions: begin it, print a pattern of its log that says that it
# has begun, and print how many hits its log has after the end.
begin_perf() {
	rm -f "$tmp/perf.do"
	mkfifo "$tmp/perf.do"
	echo enable > "$tmp/perf.do" &
	exec perf record -D -1 --control "fifo:$tmp/perf.do" -o "$tmp/perf.data" \
		-e sdt_python:gc__start -p "$python"
}
ready_perf() { echo "Events enabled"; }
hits_perf() {
	perf script -i "$tmp/perf.data" 2> /dev/null | grep -c sdt_python:gc__start:
}

begin_bpftrace() {
	exec bpftrace -B none -p "$python" -e "
		usdt:$file:python:gc__start { @hits = count(); }
		interval:ms:200 { printf(\"tick\n\"); }"
}
ready_bpftrace() { echo tick; }
hits_bpftrace() { sed -n 's/^@hits: //p' "$1"; }

begin_utrace() {
	exec "$utrace" markers trace --count -p "$python" python:gc__start
}
ready_utrace() { echo tracing; }
hits_utrace() { awk '$2 == "python:gc__start" { print $1 }' "$1"; }

# start TOOL: begin a tool, and wait until it counts
declare -A job
start() {
	"begin_$1" > "$tmp/$1" 2>&1 < /dev/null &
	job[$1]=$!
	await has "$tmp/$1" "$("ready_$1")"
}

# counts TOOL N: end the tool, and check that it has counted N hits
counts() {
	kill -INT "${job[$1]}"
	wait "${job[$1]}"
	is "$2" "hits_$1" "$tmp/$1" || { cat "$tmp/$1"; return 1; }
}

# beside TOOL: the tool and utrace come and go in both orders
beside() {
	local tool=$1

	begin_python
	holds "$tool: first" start "$tool"
	holds "$tool: the semaphore" is 1 semaphore
	collect 2
	holds "$tool: utrace comes" start utrace
	holds "$tool: the semaphore with both" is 1 semaphore
	collect 5
	holds "$tool: leaves with its hits" counts "$tool" 7
	holds "$tool: the semaphore of utrace" is 1 semaphore
	collect 3
	holds "$tool: comes again, after utrace" start "$tool"
	holds "$tool: the semaphore with both again" is 1 semaphore
	collect 5
	holds "$tool: utrace leaves with its hits" counts utrace 13
	holds "$tool: the semaphore without utrace" is 1 semaphore
	collect 2
	holds "$tool: leaves last with its hits" counts "$tool" 7
	holds "$tool: the semaphore at last" is 0 semaphore
	holds "$tool: the program ends well" end_python
}

if ! skip "perf" perf; then
	perf buildid-cache --add "$file" > "$tmp/said" 2>&1
	holds "perf: finds the marker" perf probe -q sdt_python:gc__start
	beside perf
	holds "perf: removes the probe" perf probe -q -d 'sdt_python:*'
fi
skip "bpftrace" bpftrace || beside bpftrace
plan
