#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - 'utrace branches test', the report on the processor
#
# On a machine that has no branch trace store, as all emulators, the command
# reports that and the reason; on a machine that has one, the self-test
# succeeds.  UTRACE= is the command; the default is the one in PATH.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
utrace=$(command -v "${UTRACE:-utrace}") || skip_all "no command utrace (tools/utrace)"
file=/sys/kernel/debug/utrace/branches
[ -e "$file" ] || skip_all "no $file (UTRACE_BTS_INTEL, debugfs mounted)"

# report_ends STATUS ARG...: run the command, with its output in $tmp
report_ends() {
	local want=$1 got

	shift
	"$@" > "$tmp/report" 2> "$tmp/stderr"
	got=$?
	cat "$tmp/report" "$tmp/stderr"
	[ "$got" = "$want" ] || { echo "status $got instead of $want"; return 1; }
}

# result: print the last word of the report
result() {
	sed -n 's/^result: //p' "$tmp/report"
}

if grep -q '^flags.* bts' /proc/cpuinfo; then
	holds "with the hardware: the CPUs record as they should" \
		report_ends 0 "$utrace" branches test
	holds "with the hardware: the result is ok" is ok result
	holds "each CPU was tested" is "$(getconf _NPROCESSORS_ONLN)" \
		count "$tmp/report" '^cpu [0-9]+: ok, '
	holds "the test succeeds a second time" report_ends 0 "$utrace" branches test
else
	holds "without the hardware: status 1" report_ends 1 "$utrace" branches test
	holds "without the hardware: the result is no-hardware" is no-hardware result
	holds "no CPU was tested" hasnt "$tmp/report" '^cpu '
	grep -q '^flags.* hypervisor' /proc/cpuinfo &&
		holds "a virtual machine is recognized" \
			has "$tmp/report" '^A virtual machine has no branch trace store'
	holds "the features are there" has "$tmp/report" '^features: ds .*bts no'
fi
holds "nothing is on standard error" [ ! -s "$tmp/stderr" ]
holds "the processor is named" has "$tmp/report" '^processor: [A-Za-z]+, family [0-9]+ model '
holds "page table isolation is reported" has "$tmp/report" '^page table isolation: (yes|no)$'
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
holds "a user other than root cannot run it" report_ends 125 "${nobody[@]}" "$utrace" branches test
holds "the error names root" has "$tmp/stderr" 'only root may run it'
holds "a wrong argument is refused" report_ends 125 "$utrace" branches test --no-such
holds "--help succeeds" report_ends 0 "$utrace" branches test --help
holds "nothing is in the kernel's log" \
	eval '! dmesg | grep -E "cannot record branches|WARNING.*bts"'
plan
