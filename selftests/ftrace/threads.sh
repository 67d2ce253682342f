#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - only one of 3000 threads is followed
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_tracer
need_built threads

own=$(instance threads)
trap 'rmdir "$own"; rm -rf "$tmp"' EXIT

# told: print how many tasks of the program have events of the tracer or have none
told() {
	cat "/proc/$pid"/task/*/utrace |
		awk '$1 == "ftrace" { print $5 == "-" ? "none" : "some" }' |
		sort | uniq -c | awk '{ print $1, $2 }'
}

mkfifo "$tmp/in" "$tmp/out"
"$bin/threads" 3000 10 < "$tmp/in" > "$tmp/out" &
pid=$!
exec 8> "$tmp/in" 9< "$tmp/out"
read -r -t $((100 * patience)) one <&9
holds "there are 3000 threads" is 3001 eval "ls /proc/$pid/task | wc -l"
follow "$own" "$one"
echo getuid > "$own/process/syscalls"
echo >&8
read -r -t $((100 * patience)) said <&9
holds "each thread has made its calls" is "done" echo "$said"
holds "10 calls of one thread are recorded" is 10 count "$own/trace" 'getuid\(\)'
holds "each call has its exit" is 10 count "$own/trace" 'getuid resumed> = 0'
holds "records of the thread" is 20 eval "plain $own/trace | grep -c threads-$one"
holds "no other records" is 20 eval "plain $own/trace | wc -l"
holds "the tracer has events in one task only" is "3000 none
1 some" told
holds "nothing is lost" is 0 lost "$own"

echo nop > "$own/current_tracer"
holds "no tracer: no engine is left" is "" told
echo >&8
exec 8>&- 9<&-
holds "the program ends normally" wait "$pid"
plan
