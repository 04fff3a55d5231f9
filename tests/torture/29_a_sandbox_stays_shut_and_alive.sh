#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 29: seccomp filters (strict, KILL_PROCESS, TRAP, ERRNO as libseccomp's default) installed after the
# start, then threads and forks: nobody is killed by a system call that we make.
. "$(dirname "$0")/lib.sh"
HZ=5000
ms=$(pick 100 10000)
board sandbox
modes=(kill trap errno)
if is_refused; then
  without strict "what refuses perf here is a filter, and the kernel gives strict mode to nobody who has one"
else
  modes+=(strict)
fi
for mode in "${modes[@]}"; do SAMPLES=1 same "$torture/sandbox" "$mode" "$ms"; done
