#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each file of a collector's folder x gone, empty, half, an older copy, another collector's x before a start, while it runs: nobody who
# is revoked gets in, no batch that was acked counts twice, and what answers lack is said.  The short form has the files that answers
# and rights stand in; the long form all of them, logs of databases too, and prints the table.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 "$(dirname "$0")/../e2e/lost_files.py" "$W" $(pick "" all) >"$W/table" 2>"$W/err" || fail "$(cat "$W/err")"
! is_long || cat "$W/table"
say "$(grep -c '| stopped |' "$W/table") cells before a start, $(grep -c '| running |' "$W/table") while the collector runs"
