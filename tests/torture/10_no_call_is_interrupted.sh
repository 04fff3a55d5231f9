#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 10: calls with timeouts that the kernel never restarts end as they would without us: no EINTR.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
board eintr
SAMPLES=20 holds "$torture/eintr" "$(pick 1 600)"
say "kernel $(uname -r); kernels before 5.9 need a board of their own (a virtual machine), not run here"
