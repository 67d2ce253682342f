# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What every script here shares: where things are, and how a run ends when
# something is wrong. Sourced, never run.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$TOP/build
STOCK=$BUILD/stock		# the pristine tree, never written to
LINUX=$BUILD/linux		# pristine + overlay + series
LOGS=$BUILD/logs
# shellcheck disable=SC2034
SERIES=$TOP/patches/linux-6.12
# shellcheck disable=SC2034
JOBS=${JOBS:-$(nproc)}

# The same bytes out of the same sources, so that ccache hits across runs.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 2026'
export KBUILD_BUILD_USER=utrace KBUILD_BUILD_HOST=build
export CCACHE_BASEDIR=$BUILD CCACHE_NOHASHDIR=1
# The trees are sources; nothing is to leave files in them.
export PYTHONDONTWRITEBYTECODE=1
export LC_ALL=C
# What make itself hands down would reach the kernel's make as options.
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

# One line on what is wrong and what to do about it.
die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

note() {
	echo "  $*"
}

# The kernel's own make, with a compiler cache.
kmake() {
	make -j"$JOBS" CC='ccache gcc' HOSTCC='ccache gcc' "$@"
}

# The modules of selftests/module for the kernel $K, in build/k-$K/utrace_test.
test_modules() {
	local out=$BUILD/k-$K/utrace_test

	rsync -rc "$TOP/selftests/module/" "$out/" &&
		make -s -C "$LINUX" O="$BUILD/k-$K" M="$out" CC='ccache gcc' modules
}

# Every limit by the clock is multiplied by $PATIENCE, which is measured at the
# start of a run.
measure_patience() {
	export PATIENCE=${PATIENCE:-$("$TOP/scripts/calibrate")}
}

# "6.12.117" of the tree in $1, without running its Makefile.
kernel_version() {
	awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { p = $3 }
	     $1 == "SUBLEVEL" { print v "." p "." $3; exit }' "$1/Makefile"
}

# Which tree a kernel named $1 is built from.
tree_of() {
	case $1 in
	stock | *-stock) echo "$STOCK" ;;
	*) echo "$LINUX" ;;
	esac
}

case $TOP in
*[[:space:]]*) die "the path '$TOP' has a space in it; kernel builds cannot cope, move the clone" ;;
esac
mkdir -p "$LOGS"
