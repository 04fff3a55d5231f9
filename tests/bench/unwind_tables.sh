#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Size of the unwind tables of real programs, and the cost of making them.
#
#   unwind_tables.sh [FILE...]     a row of docs/performance.md for each; missing files are skipped
#
# FLEETPROF_TARGETS is tests/targets of a build. Milliseconds are CPU time, the median of five with
# the file in the page cache.
set -u
: "${FLEETPROF_TARGETS:?tests/targets of a build}"
tool=$FLEETPROF_TARGETS/../bench/unwind_table
[ $# -gt 0 ] || set -- "/lib/$(gcc -print-multiarch)/libc.so.6" "/usr/lib/$(gcc -print-multiarch)/libcrypto.so.3" /usr/bin/{redis-server,sqlite3,xz,git,python3.11,node} \
  /usr/sbin/nginx /usr/lib/chromium/chromium /usr/aarch64-linux-gnu/lib/libc.so.6
echo "| file | its size | table | rows | bytes a row | ms | peak memory |"
echo "|---|---|---|---|---|---|---|"
for file; do
  [ -r "$file" ] || continue
  read -r _ bytes table rows a_row ms peak < <("$tool" cost "$file" 2>/dev/null) || continue
  echo "| ${file##*/} | $((bytes / 1000)) kB | $((table / 1000)) kB | $rows | $a_row | $ms | $peak KiB |"
done
