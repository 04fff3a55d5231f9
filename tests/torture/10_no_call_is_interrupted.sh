#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 10: calls with timeouts that the kernel never restarts end as they would without us: no EINTR.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
board eintr
SAMPLES=5 holds "$torture/eintr" "$(pick 1 600)"
# Our signal interrupts nothing on the kernel that runs here; on an older one the handler asks for a restart.
asks_for_restart() {
  sampled timer /usr/bin/python3 -c 'import ctypes, os, sys
SIGURG, SA_RESTART, action = 23, 0x10000000, (ctypes.c_ulong * 4)()
ctypes.CDLL(None).syscall({"x86_64": 13, "aarch64": 134}[os.uname().machine], SIGURG, None, action, 8)
sys.exit(not action[1] & SA_RESTART)'
}
until_true 2 asks_for_restart || fail "the handler does not ask that calls be restarted"
say "kernel $(uname -r); kernels before 5.9 need a board of their own (a virtual machine), not run here"
