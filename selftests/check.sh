# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the checks written in shell share. Sourced; prints TAP.

n=0
failed=0
patience=${PATIENCE:-1}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# holds TEXT COMMAND...: one result, with what the command said if it fails
holds() {
	local text=$1

	shift
	n=$((n + 1))
	if "$@" > "$tmp/said" 2>&1; then
		echo "ok $n $text"
	else
		echo "not ok $n $text"
		sed 's/^/#   /' "$tmp/said"
		failed=$((failed + 1))
	fi
}

# await COMMAND...: until it succeeds, at most 10 s, times PATIENCE
await() {
	local i

	for ((i = 0; i < 100 * patience; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

# state PID: the letter of its state
state() {
	sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2> /dev/null
}

# The end: how many there were, and whether all held.
plan() {
	echo "1..$n"
	[ "$failed" = 0 ]
}
