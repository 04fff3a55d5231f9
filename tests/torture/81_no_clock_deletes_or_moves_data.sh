#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The collector's wall clock is wrong by an hour to a hundred years, from its start or while it
# runs, with no board, one, or several of which one has a false clock. Only old data is deleted, old
# data is deleted if two boards agree, and samples are in their minute wherever the time can be
# known.
. "$(dirname "$0")/lib.sh"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$(dirname "$0")/door/clock_cells.py" "$W" "$torture/other_clocks.so" $(is_long && echo long) ||
  fail "a wrong clock has moved or deleted data"
