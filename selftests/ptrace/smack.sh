#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - Smack asks about each tracer, and each session
#
# A guest boots with Smack by APPEND=lsm=smack.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/ptrace/domains.sh
. "$bin/domains.sh"
[ -e /proc/self/attr/smack/current ] || skip_all "Smack is not active (lsm=smack)"
need_domains python3

smack=$tmp/smack
mkdir "$smack"
mount -t smackfs smackfs "$smack" || skip_all "no smackfs"
trap 'umount "$smack"; end_domains' EXIT

# The program gets the label Domain, which good may trace and bad may not. Both
# may trace "_", the label of all programs at first.
python3 -c 'import os, sys; os.setxattr(sys.argv[1], "security.SMACK64EXEC", b"Domain")' \
	"$tmp/fs/helper" || skip_all "no extended attributes"
for rule in "good Domain rwxa" "good _ rwxa" "bad _ rwxa"; do
	echo "$rule" > "$smack/load2"
done

attr=smack/current
label() {
	echo -n "$1"
}

asks_about_each "exec" "exec $tmp/fs/helper exit 7"
hides_from_bad "exec" "exec $tmp/fs/helper exit 7"
plan
