# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts of this directory: paths, and how a script ends on an
# error. The file is sourced, never run.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$TOP/build
STOCK=$BUILD/stock		# the pristine tree, never written to
LINUX=$BUILD/linux		# pristine + overlay + series
LOGS=$BUILD/logs
SERIES=$TOP/patches/linux-6.12
# shellcheck disable=SC2034
JOBS=${JOBS:-$(nproc)}

# Builds of the same sources give the same bytes, so that ccache hits across
# runs.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 2026'
export KBUILD_BUILD_USER=utrace KBUILD_BUILD_HOST=build
export CCACHE_BASEDIR=$BUILD CCACHE_NOHASHDIR=1
# Keep python from leaving __pycache__ in the trees of sources.
export PYTHONDONTWRITEBYTECODE=1
export LC_ALL=C
# The kernel's make would take the options of the project's make from these.
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES

# End the script. The arguments are one line: what is wrong and what to do
# about it.
die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

note() {
	echo "  $*"
}

# Lock file $1 until the script ends: two runs at once in the same folder would
# mix what they write. Children that outlive the script have to close 9.
take_lock() {
	exec 9> "$1"
	flock -n 9 || {
		echo "waiting for another make in this folder" >&2
		flock 9
	}
}

# Run make for the kernel, with a compiler cache.
kmake() {
	make -j"$JOBS" CC='ccache gcc' HOSTCC='ccache gcc' "$@"
}

# Build the modules of selftests/module for the kernel $K in
# build/k-$K/utrace_test.
test_modules() {
	local out=$BUILD/k-$K/utrace_test

	rsync -rc "$TOP/selftests/module/" "$out/" &&
		make -s -C "$LINUX" O="$BUILD/k-$K" M="$out" CC='ccache gcc' modules
}

# Set PATIENCE, by which every limit by the clock is multiplied:
# scripts/calibrate measures the factor at the start of a run, unless PATIENCE
# is set already.
measure_patience() {
	export PATIENCE=${PATIENCE:-$("$TOP/scripts/calibrate")}
}

# Print the results in log $1 as sorted lines "suite:program: test result",
# without addresses and pids, which differ from run to run.
results_in() {
	"$TOP/scripts/tap-count" --list "$1" | sed -E 's/0x[0-9a-f]+/ADDR/g; s/\bpid [0-9]+/pid N/g
		s/ \(ran into its limit of [0-9]+ s\)$//' |
		sed -E 's/^([a-z]+) (.*)$/\2 \1/' | sort | uniq
}

# Print the version of the kernel tree in $1, such as 6.12.117, without running
# the tree's Makefile.
kernel_version() {
	awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { p = $3 }
	     $1 == "SUBLEVEL" { print v "." p "." $3; exit }' "$1/Makefile"
}

# Print lines for a sources.list with the suites $@ of Debian, by the mirrors
# from which this machine has its own Debian. apt's lists name them.
debian_sources() {
	local own mirrors uri suite kind keys=/usr/share/keyrings/debian-archive-keyring.gpg

	# shellcheck source=/dev/null
	own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016
	mirrors=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' \
		'Created-By: Packages' 'Origin: Debian') ||
		die "apt-get cannot read its sources; run 'apt-get update' and see"
	for suite in "$@"; do
		kind=
		[[ $suite != *-security ]] || kind=-security
		uri=$(awk -v "suite=$own$kind" '$1 == suite { print $2; exit }' <<< "$mirrors")
		if [ -n "$uri" ]; then
			echo "deb [signed-by=$keys] $uri $suite main"
		elif [ -z "$kind" ]; then
			die "apt has no list of Debian ${own:-here}, so there is no mirror to install from; add one to /etc/apt/sources.list if it is missing, and run 'apt-get update'"
		else
			note "apt has no list of $own-security; continuing without $suite" >&2
		fi
	done
}

# Fetch Debian's source package $1 to the folder $2/src, and unpack the files that
# the further arguments name, or all. apt-get gets lists of its own in $2/apt, as
# the machine's may have no sources.
fetch_source() {
	local name=$1 dir=$2 apt

	shift 2
	[ ! -d "$dir/src" ] || return 0
	rm -rf "$dir/src.tmp"
	mkdir -p "$dir/apt/lists/partial" "$dir/src.tmp"
	sed 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' \
		/etc/apt/sources.list.d/debian.sources > "$dir/apt/debian.sources" 2> /dev/null ||
		sed 's/^deb /deb-src /' /etc/apt/sources.list > "$dir/apt/debian.sources"
	apt=(-q -o Dir::Etc::sourcelist="$dir/apt/debian.sources" -o Dir::Etc::sourceparts=-
		-o Dir::State::lists="$dir/apt/lists" -o APT::Sandbox::User=root)
	apt-get "${apt[@]}" update &&
		(cd "$dir" && apt-get "${apt[@]}" --download-only source "$name") &&
		tar -xf "$dir/$name"_*.orig.tar.xz -C "$dir/src.tmp" \
			--strip-components=1 "$@" || return
	mv "$dir/src.tmp" "$dir/src"
}

need_root() {
	[ "$(id -u)" = 0 ] || die "a Debian system can only be made by root; run it with sudo"
}

# Make a small Debian system of suite $1 with the packages $2 as $3, a folder or
# a tar archive, with the log $4. More arguments are options of mmdebstrap.
debian_system() {
	local suite=$1 packages=$2 target=$3 log=$4 sources

	shift 4
	sources=$(debian_sources "$suite"{,-updates,-security})
	note "making a Debian system ($suite), some minutes; log: $log"
	mmdebstrap --quiet --variant=minbase --include="$packages" "$@" \
		"$suite" "$target" - <<< "$sources" > "$log" 2>&1 ||
		die "making a Debian system failed: $(grep -m 1 '^E: ' "$log" || tail -n 1 "$log") (log: $log)"
}

# Print the names of the patches of the series, one a line.
series_names() {
	[ ! -f "$SERIES/series" ] || sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$SERIES/series"
}

# Print the names of the files that the patches $@ change, one a line.
touched() {
	[ $# -eq 0 ] || sed -n 's|^diff --git a/\(.*\) b/.*|\1|p' "$@" | sort -u
}

# Print a fingerprint of the tree $1, which takes a second: name, size, time and
# target of each file and link.
fingerprint() {
	find "$1" -name __pycache__ -prune -o \( -type f -o -type l \) \
		-printf '%P\t%s\t%T@\t%l\n' | sort
}

# Print the lines of stdin that contain one of the names $@, or all lines if
# there are no names.
named() {
	local line name

	while read -r line; do
		for name in "${@:-:}"; do
			[[ $line != *"$name"* ]] || { echo "$line"; break; }
		done
	done
}

# Print the tree that the kernel named $1 is built from.
tree_of() {
	case $1 in
	stock | *-stock) echo "$STOCK" ;;
	mutants) echo "$BUILD/mutants" ;;
	*) echo "$LINUX" ;;
	esac
}

case $TOP in
*[[:space:]]*) die "the path '$TOP' has a space in it, and a kernel cannot be built there; move the clone" ;;
esac
mkdir -p "$LOGS"
