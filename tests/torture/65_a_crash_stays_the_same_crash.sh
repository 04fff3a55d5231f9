#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 65: SIGSEGV, abort, SIGBUS, stack overflow: the same status and core, the program's crash handler
# runs, and the last samples before the crash are kept.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=1000
ms=$(pick 100 5000)
board crash
ulimit -S -c 0
for way in segv abort bus overflow; do
  SAMPLES=$((ms / 10)) same "$torture/crash" $way "$ms"
  SAMPLES=$((ms / 10)) same "$torture/crash" $way "$ms" plain
done
# A core is written where the program runs, if this machine keeps cores as files at all.
pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
'|'* | /*) without "the core file" "cores go to '$pattern' on this machine" ;;
*)
  ulimit -S -c unlimited 2>/dev/null || without "the core file" "cores are forbidden by a hard limit"
  for sampler in plain "${samplers[@]}"; do
    mkdir "$W/core-$sampler"
    if [ $sampler = plain ]; then
      (cd "$W/core-plain" && { "$torture/crash" segv 50 plain; } >/dev/null 2>&1; true)
    else
      (cd "$W/core-$sampler" && sampled $sampler "$torture/crash" segv 50 plain) >/dev/null 2>&1
    fi
    cores=$(find "$W/core-$sampler" -type f | wc -l)
    [ $sampler = plain ] && expected=$cores
    [ "$cores" = "$expected" ] || fail "$sampler: $cores core files, $expected without us"
  done
  say "core files: $expected each"
  ;;
esac
