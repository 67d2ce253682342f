# SPDX-License-Identifier: GPL-2.0
#
# The commands a newcomer types; what they do is in scripts/.

MAKEFLAGS += --no-print-directory
S := scripts
K ?= lean
export KSRC K CMD TIMEOUT WRITE QUICK FULL CONFIG LSMOD SAVE

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: prepare ## build, boot, and see several engines on one real program
	@$(S)/demo

test: prepare ## all tests, at most 80 minutes (QUICK=1: ten, FULL=1: everything)
	@$(S)/test

try: kernel ## CMD='...' run a command in the guest under the sample tracer
	@$(S)/try

guest: kernel ## a shell in the guest; CMD='...' one command, fails as it does
	@$(S)/tools
	@$(S)/guest "$$CMD"

engine: kernel ## NAME=x a new engine module in x/, from a template, built
	@$(S)/new-engine "$(NAME)"

stock:
	@$(S)/deps
	@$(S)/stock

prepare: ## build/linux: pristine kernel (KSRC=, or Debian's) + overlay + series
	@$(S)/prepare

kernel: prepare ## K=lean|debug|kcsan|stock build that kernel
	@$(S)/kernel $(K)

kunit: prepare ## ARCH=um|um-wide|x86_64 the KUnit suites
	@$(S)/kunit $(or $(ARCH),um) $(SUITE)

selftest: prepare ## K=lean|debug|kcsan TEST=name our selftests; STOCK=1 the kernel's own
	@$(if $(STOCK),$(S)/stock-suites compare,$(S)/selftest $(TEST))

stock-results: prepare ## store what the kernel's own selftests give unpatched
	@$(S)/stock-suites record

check-models: ## explore the models of tools/models, and what breaks them
	@$(S)/check-models $(MODEL)

check: prepare ## checkpatch, W=1, sparse, kernel-doc, shellcheck, clang-format
	@$(S)/check

tools: prepare ## the command utrace, in build/tools
	@$(S)/tools

series: stock ## build/series: the hooks as a git repository to edit
	@$(S)/series open

series-add: stock ## FILE=kernel/fork.c bring a kernel file into build/series
	@$(S)/series add $(FILE)

patches: stock ## write build/series back to patches/linux-6.12
	@$(S)/series export

bench: prepare ## what tracing costs, in instructions (QUICK=1: fewer boots)
	@$(S)/bench $(if $(SAVE),save)

deb: prepare ## Debian packages of the kernel (CONFIG=local: for this machine)
	@$(S)/deb

clean: ## remove build/
	@if [ -d build/series ]; then $(S)/series saved; fi
	rm -rf build

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)
