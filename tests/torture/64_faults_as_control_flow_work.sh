#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 64: SIGSEGV, SIGBUS, SIGSYS and userfaultfd as control flow, sampled at the highest rate.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
rounds=$(pick 40 20000)
board faults
for mode in segv bus sys sys_all uffd; do
  "$torture/faults" $mode 1 >/dev/null
  if [ $? = 77 ]; then
    without "$mode" "the kernel does not have it or does not allow it"
    continue
  fi
  same "$torture/faults" $mode "$rounds"
done
if command -v java >/dev/null; then
  # The collector of garbage of a JVM lives by SIGSEGV; 17 has the rest of Java.
  same java -Xmx64m -XX:+UseZGC -version
else
  without "a JVM's collector of garbage" "java is not installed"
fi
