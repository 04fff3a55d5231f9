#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 15: thread churn (joined, detached, cancelled, by pthread_exit, by raw clone): timers return to what
# they were, memory does not grow, nothing crashes.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
board churn
same "$torture/churn" "$(pick 6000 6000000)"
books_are_exact || fail "the books: $(asked "d['loss']")"
say "$(produced) samples, lost: $(lost)"
