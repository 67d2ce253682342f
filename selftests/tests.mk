# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - the tests of a folder are listed in its file TESTS
#
# NAME.sh is a shell script; every other NAME is a program built from NAME.c.

TESTS := $(shell awk '/^[a-z]/ { print $$1 }' TESTS)
TEST_PROGS := $(filter %.sh,$(TESTS))
TEST_GEN_PROGS := $(filter-out %.sh,$(TESTS))
