# SPDX-License-Identifier: GPL-2.0
#
# The commands of the project. `make help` lists them; scripts/ has what they
# do.

MAKEFLAGS += --no-print-directory
S := scripts
K ?= lean
export KSRC OLD K CMD TIMEOUT WRITE QUICK FULL CONFIG BASE LSMOD ENABLE KEY SAVE

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: prepare ## build, boot, and see several engines on one real program
	@$(S)/demo

test: prepare ## the tests, 124 minutes (QUICK=1: 19, FULL=1: all)
	@$(S)/test

try: kernel ## CMD='...' run a command under the sample tracer
	@$(S)/try

guest: kernel ## a shell in the guest; CMD='...' runs a command
	@$(S)/tools
	@$(S)/guest "$$CMD"

engine: kernel ## NAME=x a new engine module in x/, from a template
	@$(S)/new-engine "$(NAME)"

stock:
	@$(S)/deps
	@$(S)/stock

prepare: ## build/linux: the kernel (KSRC=), overlay, series
	@$(S)/prepare

kernel: prepare ## K=lean|debug|kcsan|rt|rt-debug|stock build the kernel of that name
	@$(S)/kernel $(K)

kunit: prepare ## ARCH=um|um-wide|x86_64 run the KUnit suites
	@$(S)/kunit $(or $(ARCH),um) $(SUITE)

selftest: prepare ## K=lean|debug|kcsan|rt|rt-debug TEST=name the selftests
	@$(if $(STOCK),$(S)/stock-suites compare,$(S)/selftest $(TEST))

mirror: prepare ## SUITE=own|kernel|strace|gdb ptrace beside a tracer (FULL=1: all)
	@$(S)/mirror $(SUITE)

strace-suite: prepare ## TEST=name strace's own tests, with utrace in its place
	@$(S)/strace-suite $(TEST)

fuzz: prepare ## SEED=n DURATION=60 K=debug random calls on /dev/utrace
	@t=$(or $(DURATION),60); SEED=$(or $(SEED),$$(date +%s)) DURATION=$$t \
		LIMIT=$$((t + 120)) TIMEOUT=$$((2 * (t + 240))) \
		$(S)/selftest dev:fuzz dev:storm

stock-results: prepare ## store what the kernel's own selftests give
	@$(S)/stock-suites record

check-mutations: prepare ## NAME= faults put in on purpose, each caught by a test
	@$(S)/check-mutations $(NAME)

check-models: ## explore the models of tools/models
	@$(S)/check-models $(MODEL)

check: prepare ## checkpatch, W=1, sparse, kernel-doc, shellcheck
	@$(S)/check

tools: prepare ## build the command utrace in build/tools
	@$(S)/tools

series: stock ## build/series: the hooks as a git repository to edit
	@$(S)/series open

series-add: stock ## FILE=kernel/fork.c bring a kernel file into build/series
	@$(S)/series add $(FILE)

patches: stock ## write build/series back to patches/linux-6.12
	@$(S)/series export

series-full: prepare ## build/series-full: utrace as patches to send
	@$(S)/series-full

bench: prepare ## count instructions of tracing (QUICK=1: less)
	@$(S)/bench $(if $(SAVE),save $(SAVE:1=))

deb: prepare ## Debian packages (CONFIG=local: for this machine)
	@$(S)/deb

clean: ## remove build/
	@if [ -d build/series ]; then $(S)/series saved; fi
	rm -rf build

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)
