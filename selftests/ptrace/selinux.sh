#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - SELinux asks about each tracer, and each session
#
# A guest boots with SELinux by APPEND=lsm=selinux, and without a policy. The
# test loads one that allows all but the tracing of one type. A policy cannot
# be unloaded, so the test is for a guest of its own.
set -uo pipefail

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/ptrace/domains.sh
. "$bin/domains.sh"
grep -qw selinux /sys/kernel/security/lsm 2> /dev/null ||
	skip_all "SELinux is not active (lsm=selinux)"
need_domains secilc
selinux=$tmp/selinux
mkdir "$selinux"
mount -t selinuxfs selinuxfs "$selinux" || skip_all "no selinuxfs"
trap 'umount "$selinux"; end_domains' EXIT
[ "$(cat "$selinux/policyvers")" -ge 31 ] || skip_all "an old SELinux"
grep -q '^kernel$' <(tr -d '\0' < /proc/self/attr/current) ||
	skip_all "SELinux has a policy already"

# All permissions are allowed but those of the class process that have names
# here. The type "any" is that of all programs at first.
sids=(kernel security unlabeled fs file file_labels init any_socket port netif
	netmsg node igmp_packet icmp_socket tcp_socket sysctl_modprobe sysctl
	sysctl_fs sysctl_kernel sysctl_net sysctl_net_unix sysctl_vm sysctl_dev
	kmod policy scmp_packet devnull)
{
	cat <<-END
		(mls false)
		(handleunknown allow)
		(class process (transition dyntransition ptrace))
		(classorder (process))
		(sensitivity s0)
		(sensitivityorder (s0))
		(level low (s0))
		(levelrange range (low low))
		(role object_r)
		(role r)
		(user u)
		(userrole u r)
		(userrole u object_r)
		(userlevel u low)
		(userrange u range)
		(type any)
		(type domain)
		(type good)
		(type bad)
		(roletype r any)
		(roletype r domain)
		(roletype r good)
		(roletype r bad)
		(roletype object_r any)
		(context first (u r any range))
		(allow any any (process (transition dyntransition ptrace)))
		(allow any domain (process (transition dyntransition)))
		(allow any good (process (transition dyntransition)))
		(allow any bad (process (transition dyntransition)))
		(allow good any (process (ptrace)))
		(allow good good (process (ptrace)))
		(allow good bad (process (dyntransition ptrace)))
		(allow good domain (process (ptrace)))
		(allow bad any (process (ptrace)))
		(allow bad good (process (ptrace)))
		(allow bad bad (process (ptrace)))
	END
	printf '(sidorder (%s))\n' "${sids[*]}"
	printf '(sid %s)\n' "${sids[@]}"
	printf '(sidcontext %s first)\n' "${sids[@]}"
} > "$tmp/policy.cil"
# load FILE: load the policy
load() {
	secilc -o "$tmp/policy" -f /dev/null "$1" &&
		cat "$tmp/policy" > "$selinux/load"
}
load "$tmp/policy.cil" > "$tmp/said" 2>&1 || {
	sed 's/^/# /' "$tmp/said"
	skip_all "the policy cannot be loaded"
}

attr=current
label() {
	echo -n "u:r:$1"
}

for test in asks_about_each hides_from_bad; do
	$test "exec" "echo -n u:r:domain > /proc/self/attr/exec &&
		exec $tmp/fs/helper exit 7"
	$test "change of the context" \
		"echo -n u:r:domain > /proc/self/attr/current || exit 126
		exec $tmp/fs/helper exit 7"
done

# A second policy does not let "good" trace the program. The shell has the
# domain by then, so its credentials do not change and cause no new check.
grep -v 'allow good domain' "$tmp/policy.cil" > "$tmp/second.cil"
mkfifo "$tmp/loaded" && chmod 666 "$tmp/loaded"
# The open waits until the shell opens the other end.
(exec 7> "$tmp/loaded" && load "$tmp/second.cil" > "$tmp/said.load" 2>&1 && echo >&7) &
holds "a policy is loaded: what it protects is hidden" \
	is hidden seen_by good "echo -n u:r:domain > /proc/self/attr/current || exit 126
		read -r < $tmp/loaded"
# It still waits if the shell has failed.
kill $! 2> /dev/null
plan
