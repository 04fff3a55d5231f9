#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each file of the data folder missing, empty, truncated, an older copy or another collector's,
# before a start and while the collector runs. A revoked board stays out, an acked batch counts
# once, and the file is named, or the collector prints the remedy.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 "$(dirname "$0")/lost_files.py" "$W" >"$W/table" 2>"$W/err" || fail "$(cat "$W/err")"
say "$(grep -c 'stopped' "$W/table") files lost before a start, $(grep -c 'running' "$W/table") while the collector ran"
