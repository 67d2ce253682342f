#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the kernel's own tests of single steps, signal frames and
# debug registers, under a consumer of all their branches
#
# Each program is run alone and under the consumer. Both runs have to print the
# same results and to end in the same way, whatever that is: some of these tests
# fail in an emulator.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
need_device
need_built under

# For 64 and for 32 bits.
programs="single_step_syscall mov_ss_trap sigtrap_loop syscall_nt
	syscall_arg_fault sigreturn sigaltstack"

# results FILE: print what a program has said, without addresses, pids and the
# message of the shell about a signal
results() {
	sed -E -e 's/0x[0-9a-f]+/ADDR/g' -e 's/[RE]?IP ?= ?[0-9a-f]+/IP/g' \
		-e 's/pid [0-9]+/pid N/' -e '/Segmentation fault|core dumped/d' "$1"
}

# run FILE COMMAND...: run a program, and print its output and status into FILE
run() {
	local file=$1 status=0

	shift
	(exec "$@") > "$tmp/output" 2>&1 < /dev/null || status=$?
	{ results "$tmp/output"; echo "status $status"; } > "$file"
}

# same PROGRAM: check that the consumer changes no result of the program
same() {
	local n

	run "$tmp/alone" "$bin/$1"
	run "$tmp/under" "$bin/under" "$tmp/n" "$bin/$1"
	diff "$tmp/alone" "$tmp/under" || return
	n=$(cat "$tmp/n")
	# The dynamic loader alone has more branches than this.
	[ "$n" -gt 2000 ] || { echo "$n records only"; return 1; }
	sed 's/^/# /' "$tmp/alone" | tail -n 1
}

# With the trap flag set, QEMU traps at a watchpoint once more, in the handler of
# the step, and the kernel never comes out of there.
watchpoints=1
if grep -q 'QEMU TCG' /proc/cpuinfo; then
	watchpoints=0
	programs=${programs/mov_ss_trap/}
fi

for name in $programs; do
	for bits in 64 32; do
		[ -x "$bin/${name}_$bits" ] || continue
		holds "${name}_$bits does not notice the consumer" same "${name}_$bits"
	done
done
[ "$watchpoints" = 0 ] ||
	holds "breakpoint_test does not notice the consumer" same breakpoint_test
plan
