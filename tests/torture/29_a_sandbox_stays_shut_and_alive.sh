#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 29: seccomp filters (strict, KILL_PROCESS, TRAP, ERRNO as libseccomp's default) installed after the
# start, then threads and forks: nobody is killed by a system call that we make.
. "$(dirname "$0")/lib.sh"
HZ=5000
ms=$(pick 100 10000)
board sandbox
for mode in strict kill trap errno; do SAMPLES=1 same "$torture/sandbox" $mode "$ms"; done
user_board user
for mode in kill strict; do
  as_user "$torture/sandbox" $mode "$ms" >"$W/plain.out" 2>&1
  for sampler in "${samplers[@]}"; do
    as_user fleetprof run --state "$B" --flush-timeout 0s --sampler "$sampler" --hz $HZ -- "$torture/sandbox" $mode "$ms" >"$W/run.out" 2>&1 \
      || fail "uid $ordinary: $sampler: $mode: ended with $?"
    cmp -s "$W/plain.out" "$W/run.out" || fail "uid $ordinary: $sampler: $mode: $(cat "$W/run.out")"
  done
done
