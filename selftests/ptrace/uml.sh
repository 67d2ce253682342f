#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - User Mode Linux is an ordinary tracer
#
# The kernel of the KUnit tests for User Mode Linux (scripts/kunit um) traces
# its processes by PTRACE_SYSEMU, whatever the limit of tracers is.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_utrace
limit=/proc/sys/kernel/ptrace_max_tracers
[ -e "$limit" ] || skip_all "no $limit (UTRACE_PTRACE)"
uml=${UML:-$bin/../../../k-um/linux}
[ -x "$uml" ] || skip_all "no $uml (scripts/kunit um)"

before=$(cat "$limit")
trap 'echo "$before" > "$limit"; rm -rf "$tmp"' EXIT

for max in 1 4; do
	echo "$max" > "$limit"
	timeout $((120 * patience)) "$uml" mem=256M kunit.enable=1 \
		kunit.filter_glob='utrace_set*' kunit_shutdown=halt \
		> "$tmp/log" 2>&1 < /dev/null
	holds "tests run on UML with a limit of $max" \
		has "$tmp/log" '^ *ok [0-9]+ utrace_set'
	holds "no test on UML fails with a limit of $max" hasnt "$tmp/log" 'not ok'
done
plan
