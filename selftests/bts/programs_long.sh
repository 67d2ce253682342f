#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# utrace selftests - all steps of real programs, and those of larger ones
LONG=1 exec "$(dirname "$0")/programs"
