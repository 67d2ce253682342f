#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - one of 3000 threads is followed, and no other
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
holds "3000 threads are there" is 3001 eval "ls /proc/$pid/task | wc -l"
follow "$own" "$one"
echo getuid > "$own/process/syscalls"
echo >&8
read -r -t $((100 * patience)) said <&9
holds "they have done their calls" is "done" echo "$said"
holds "10 calls of the one are recorded" is 10 count "$own/trace" 'getuid\(\)'
holds "each is over" is 10 count "$own/trace" 'getuid resumed> = 0'
holds "of the others there are none" is 20 eval "plain $own/trace | grep -c threads-$one"
holds "and nothing else" is 20 eval "plain $own/trace | wc -l"
holds "3000 tasks have nothing of the tracer" is "3000 none
1 some" told
holds "nothing is lost" is 0 lost "$own"

echo nop > "$own/current_tracer"
holds "no tracer: nothing is left" is "" told
echo >&8
exec 8>&- 9<&-
holds "the program ends as ever" wait "$pid"
plan
