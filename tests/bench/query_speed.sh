#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# query_speed.sh [FILE [NODES]]: query times of a collector over HTTP, for a call tree of NODES
# stored frames (50 000) in the module of the debug file FILE, with warm names. Default file:
# python3.11's, or a list of 20 000 symbols. For each of FORMATS (top tree folded), and for loads,
# series and the heaviest function in detail, it prints the median and the slowest of REPEATS
# requests (21), the collector's CPU time for one, the answer's bytes and, for `tree`, its nodes.
# The aim: `top` in < 50 ms and `tree` in < 150 ms. BUILD: a build directory (build), of type
# Release or RelWithDebInfo; figures of other types mean nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build} repeats=${REPEATS:-21} file=${1:-} nodes=${2:-50000}
W=$(mktemp -d)
collector=
trap '[ -z "$collector" ] || { kill "$collector" 2>/dev/null; wait "$collector"; } || true; rm -rf "$W"' EXIT

if [ -z "$file" ]; then
  id=$(readelf -n /usr/bin/python3.11 2>/dev/null | sed -n 's/.*Build ID: //p')
  file=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
fi
if [ -f "$file" ]; then
  id=$(readelf -n "$file" 2>/dev/null | sed -n 's/.*Build ID: //p')
  read -r low size < <(readelf -SW "$file" 2>/dev/null | sed -n 's/.* \.text *[A-Z]* *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p')
else
  id=0123456789abcdef0123456789abcdef01234567 low=100000 size=1388000 file=$W/list
  for ((i = 0; i < 20000; i++)); do printf '%016x T a_function_with_a_name_of_usual_length_%d\n' $((0x100000 + i * 1000)) "$i"; done >"$file"
fi
high=$(printf '%x' $((0x$low + 0x$size)))

mkdir -p "$W/data"
"$build/tests/bench/query_store" "$W/data" "$id" "$low" "$high" "$nodes"
"$build/collector/fleetprof-collector" --data "$W/data" --agents 127.0.0.1:0 --http 127.0.0.1:0 >"$W/log" 2>&1 &
collector=$!
for ((i = 0; i < 600; i++)); do
  sleep 0.1
  url=$(sed -n 's/.*ready collector: \(http[^,]*\),.*/\1/p' "$W/log")
  [ -z "$url" ] || break
done
url=${url%/}
token=$("$build/collector/fleetprof-collector" token --data "$W/data" --role symbols)
total=$(stat -c %s "$file")
for ((at = 0; at < total; at += 60000000)); do
  tail -c +$((at + 1)) "$file" | head -c 60000000 \
    | curl -fsS -X PUT -H "Authorization: Bearer $token" --data-binary @- \
      "$url/api/v1/debug/$id?offset=$at&total=$total" >"$W/put"
done
for ((i = 0; i < 600; i++)); do # its debug information is read in the background
  quality=$(curl -fsS -I "$url/api/v1/debug/$id" | tr -d '\r' | sed -n 's/^Fleetprof-Quality: //p')
  [ "$quality" != symtab ] || [ "$i" -gt 100 ] || { sleep 0.1; continue; }
  break
done
echo "$file: quality $quality, $nodes stored frames, load $(cut -d' ' -f1 /proc/loadavg)"

cpu_ms() { # of the collector, so far
  local fields
  read -ra fields < <(sed 's/.*) //' "/proc/$collector/stat")
  echo $(((fields[11] + fields[12]) * 1000 / $(getconf CLK_TCK)))
}
ask() { # NAME TARGET: one line about REPEATS answers
  local before extra
  curl -fsS -o "$W/answer" "$url/api/v1/$2" || return 0
  before=$(cpu_ms)
  for ((i = 0; i < repeats; i++)); do
    curl -fsS -o /dev/null -w '%{time_total}\n' "$url/api/v1/$2"
  done | sort -n >"$W/times"
  extra=", $((($(cpu_ms) - before) / repeats)) ms of CPU"
  [ "$1" != tree ] || extra+=", $(grep -o '"parent":' "$W/answer" | wc -l) nodes"
  awk -v f="$1" -v b="$(stat -c %s "$W/answer")" -v e="$extra" '{ t[NR] = $1 * 1000 }
    END { printf "%-13s median %6.1f ms, slowest %6.1f ms, %d bytes%s\n", f, t[int((NR + 1) / 2)], t[NR], b, e }' "$W/times"
}
for format in ${FORMATS:-top tree folded}; do ask "$format" "profile?format=$format"; done
heaviest=$(curl -fsS "$url/api/v1/profile?limit=1" | /usr/bin/python3 -c 'import json, sys, urllib.parse
print(urllib.parse.quote(json.load(sys.stdin)["functions"][0]["name"], ""))')
ask load/function "load?by=function"
ask load/board "load?by=board"
ask series "series?step=60"
ask series/thread "series?by=thread&step=60"
ask function "function?function=$heaviest"
[ -z "${HOLD:-}" ] || { echo "$url pid $collector: enter ends it"; read -r || true; }
