#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 2: the handler's object code has no undefined symbol, no thread-local storage, no system call and
# takes at most 1 KiB of stack.  (tests/handler.sh looks; this finds the objects of this build.)
. "$(dirname "$0")/lib.sh"
build=${FLEETPROF_TARGETS%/tests/targets}
objects=$(find "$build/agent" -path '*fleetprof_handler.dir*' -name '*.o' | tr '\n' ' ')
[ -n "$objects" ] || not_run "no handler objects below $build/agent: run from a build tree"
control=$(find "$build/agent" -path '*fleetprof_control.dir*' -name '*.o' | tr '\n' ' ')
"$torture_sources/../../handler.sh" "$agent" "$objects" "$control" || fail "the handler's object code"
