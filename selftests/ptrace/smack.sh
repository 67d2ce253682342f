#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - a security module asks about each tracer
#
# Smack is the module, since it has rules without a compiler for them. A guest
# boots with it by APPEND=lsm=smack.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
limit=/proc/sys/kernel/ptrace_max_tracers
[ -e "$limit" ] || skip_all "no $limit (UTRACE_PTRACE)"
[ -e /proc/self/attr/smack/current ] || skip_all "Smack is not active (lsm=smack)"
for tool in strace setpriv python3; do
	command -v "$tool" > /dev/null || skip_all "$tool is not installed"
done
need_utrace

before=$(cat "$limit")
smack=$tmp/smack
mkdir "$smack" "$tmp/fs"
mount -t smackfs smackfs "$smack" || skip_all "no smackfs"
mount -t tmpfs tmpfs "$tmp/fs"
trap 'echo "$before" > "$limit"; umount "$smack" "$tmp/fs"; rm -rf "$tmp"' EXIT
echo 4 > "$limit"

# The program gets the label Domain, which Good may trace and Bad may not.
cp "$(dirname "$0")/helper" "$tmp/fs/helper"
python3 -c 'import os, sys; os.setxattr(sys.argv[1], "security.SMACK64EXEC", b"Domain")' \
	"$tmp/fs/helper" || skip_all "no extended attributes"
echo "Good Domain rwxa" > "$smack/load2"
mkfifo "$tmp/go"
chmod 755 "$tmp" "$tmp/fs" && chmod 666 "$tmp/go"

# result_under LABEL...: the status of a program that is executed under tracers
# with these labels, the first tracer first.
result_under() {
	local label pid status strace=()

	# The task has no rights over rules.
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		bash -c "read -r < $tmp/go; exec $tmp/fs/helper exit 7" 2> /dev/null &
	pid=$!
	await grep -q bash "/proc/$pid/comm"
	for label; do
		bash -c "echo $label > /proc/self/attr/smack/current &&
			exec strace -o /dev/null -p $pid" 2> "$tmp/err.${#strace[@]}" &
		strace+=($!)
		await grep -q attached "$tmp/err.$((${#strace[@]} - 1))"
	done
	echo > "$tmp/go"
	wait "$pid"
	status=$?
	wait "${strace[@]}"
	echo "$status"
}

holds "two tracers that may" test "$(result_under Good Good)" = 7
holds "the first one may not" test "$(result_under Bad Good)" = 126
holds "the second one may not" test "$(result_under Good Bad)" = 126
holds "the third one may not" test "$(result_under Good Good Bad)" = 126
plan
