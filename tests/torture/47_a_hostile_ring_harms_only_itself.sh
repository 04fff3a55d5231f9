#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 47: programs that rewrite the lengths in their rings while the daemon reads them. This runs the
# end-to-end test of hostile programs, a minute of each kind in the long form; CTest has the short
# one by that name alone. fuzz_ring and fuzz_drain fuzz the reader of these bytes.
exec "$(dirname "$0")/../e2e/a_hostile_target_harms_only_itself.sh"
