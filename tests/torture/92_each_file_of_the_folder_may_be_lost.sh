#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each file of a collector's folder is gone, empty, cut in half, an older copy or another
# collector's, before a start or while it runs. No revoked board is accepted, no acked batch counts
# twice, and missing data in answers is reported. The short form has the files of answers and
# rights; the long form has all files, logs of databases too, and prints the table.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 "$(dirname "$0")/../e2e/lost_files.py" "$W" $(pick "" all) >"$W/table" 2>"$W/err" || fail "$(cat "$W/err")"
! is_long || cat "$W/table"
say "$(grep -c '| stopped |' "$W/table") cells before a start, $(grep -c '| running |' "$W/table") while the collector runs"
