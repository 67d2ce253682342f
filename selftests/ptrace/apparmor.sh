#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - AppArmor asks about each tracer, and each session
#
# A guest boots with AppArmor by APPEND=lsm=apparmor.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/ptrace/domains.sh
. "$bin/domains.sh"
[ -e /proc/self/attr/apparmor/current ] ||
	skip_all "AppArmor is not active (lsm=apparmor)"
need_domains apparmor_parser

# The profile "domain" is that of the program. Good may trace it, bad may not. A
# process may change from good to bad.
cat > "$tmp/profiles" <<-END
	abi <abi/3.0>,
	profile domain $tmp/fs/helper {
		file,
		signal,
		ptrace,
	}
	profile good {
		file,
		capability,
		signal,
		ptrace,
		change_profile -> bad,
	}
	profile bad {
		file,
		capability,
		signal,
		ptrace peer={unconfined,good,bad},
	}
END
apparmor_parser -K -a "$tmp/profiles" > "$tmp/said" 2>&1 || {
	sed 's/^/# /' "$tmp/said"
	skip_all "the profiles cannot be loaded"
}
trap 'apparmor_parser -K -R "$tmp/profiles"; end_domains' EXIT

attr=apparmor/current
label() {
	echo -n "changeprofile $1"
}

for test in asks_about_each hides_from_bad; do
	$test "exec" "exec $tmp/fs/helper exit 7"
	$test "change of the profile" \
		"echo changeprofile domain > /proc/self/attr/apparmor/current || exit 126
		exec $tmp/fs/helper exit 7"
done
plan
