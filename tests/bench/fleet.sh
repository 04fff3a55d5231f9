#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fleet.sh [PART...]: a collector's cost under simulated boards (tests/fleet), which send windows of
# real programs with at least 500 records and 180 nodes. Simulator and collector share the machine.
# Without PART, all parts run:
#
#   throughput  batches stored per CPU second of the collector, compaction included, each round beside the minimum for the same bytes:
#               TLS decryption, zstd, a bare SQLite group commit.     ROUNDS (3), BACKLOG (300 batches of each of 32 boards)
#               Two rows a round: a backlog, whose batches stand alone; and boards without a backlog, which send one batch at a time
#               as a delta to the previous one (64 boards, so that 64 batches are in flight)
#   boards      a row for each of BOARDS ("100 1000 10000") at windows of 10 s: CPU, RssAnon, time to ack, bytes.  SECONDS_EACH (60)
#               after all have connected, at 250 a second, like boards after a restart, or within 10 s.
#               ALONE=1: no deltas, which saves CPU time of the simulator that real boards spend on their own CPUs
#   questions   QUESTIONED boards (100) at windows of 10 s, after a day of earlier data: RssAnon of the collector before the first query, while ASKERS (8)
#               send query after query for SECONDS_EACH (60), each over all data (the queries of the page and a dashboard), and half a minute after.
#               Takes a minute more than SECONDS_EACH, and the time to make that day: another minute on a busy machine
#   profile     the collector's time while it receives a backlog, with batches alone and as deltas, by our own profiler (FLEETPROF_PREFIX: an installed tree):
#               its parts and functions, with the 95 % intervals of their shares.     BACKLOG (1200), HZ (125: whole stacks)
#   most        the largest number of boards with a p99 below 1 s, found by doubling from MOST_FROM (1000)
#   herd        HERD boards (5000) after a kill and restart of the collector: time until all have reconnected, and how evenly
#
# CHECK=1: a part fails beyond its limit: 5000 batches a second of a core (the median of the
# rounds); 100 boards in 48 MiB, 10 000 in 1 GiB with a p99 below 1 s; the herd reconnected within
# 60 s, its busiest second below three times the mean.
#
# BUILD: a build directory (build) of type Release or RelWithDebInfo; figures of other types mean
# nothing. Every part ends with a comparison of the boards' counters with the collector's.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
simulator=$build/tests/fleet/fleetsim
W=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-fleet.XXXXXX")
collector= watcher=
# Kills the processes of an aborted run: a simulator that only gets SIGTERM runs on until it has
# delivered everything.
finish() {
  local running
  running=$(jobs -pr)
  [ -z "$running" ] || { kill -KILL $running 2>/dev/null; wait 2>/dev/null; } || true
  rm -rf "$W"
}
trap finish EXIT
rich=(--records-min 500 --nodes-min 180)
for file in tests/fleet/captured/*.spool; do recordings+=("$file") rich+=(--recording "$file"); done
fail() { echo "FAILED: $*"; tail -n 5 "$W/log"; exit 1; }
ticks=$(getconf CLK_TCK)

port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
collector_up() {
  "$build/collector/fleetprof-collector" --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" >>"$W/log" 2>&1 &
  collector=$!
  for ((i = 0; i < 300; i++)); do curl -fs "http://127.0.0.1:$H/readyz" >/dev/null 2>&1 && return || sleep 0.1; done
  fail "no collector"
}
fresh_collector() { rm -rf "$W/data"; A=$(port) H=$(port); : >"$W/log"; collector_up; }
collector_down() { kill $collector; wait $collector || true; collector=; }
cpu_of() { awk -v hz="$ticks" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"; }
# threads_of PID BATCHES: the CPU time a batch of each thread that has any, as "NAME us".
threads_of() {
  local task
  for task in /proc/"$1"/task/*; do
    awk -v hz="$ticks" -v n="$2" '{ name = $0; sub(/^[^(]*\(/, "", name); sub(/\) .*/, "", name); sub(/.*\) /, ""); us = ($12 + $13) / hz / n * 1e6
                                    if (us >= 1) printf "%s %.0f us; ", name, us }' "$task/stat" 2>/dev/null
  done
}
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }
figure() { awk -v m="$1" '$1 == m { print $2 }' "$W/fleet"; }
# Reads the landing file directly: the first answer of /metrics would scan all samples, at the cost
# of the batches.
unsettled() {
  /usr/bin/python3 -c 'import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}/landing.db?mode=ro", uri=True).execute("SELECT count(*) FROM landing").fetchone()[0])' "$W/data"
}
settle() { for ((i = 0; i < 1200; i++)); do [ "$(unsettled)" = 0 ] && return || sleep 0.1; done; fail "does not settle"; }
boards_run() { "$simulator" --data "$W/data" --agents "127.0.0.1:$A" --truth "$W/truth" "$@" >"$W/fleet" 2>"$W/fleet.err"; }
undone() { fail "not all boards delivered what they had: $(tail -n 1 "$W/fleet.err")"; }
agree() { tests/fleet/truth_agrees.py "$W/truth" "http://127.0.0.1:$H" 60 >"$W/agree" || fail "$(cat "$W/agree")"; }
# The largest RssAnon of the collector, in MiB, until it is killed: the last line of the file.
watch_memory() { while sleep 0.2; do awk '/^RssAnon/ { print $2 / 1024 }' "/proc/$1/status" 2>/dev/null; done >"$W/memory"; }
# check WHAT FIGURE "<"|">=" LIMIT
check() {
  [ -z "${CHECK:-}" ] || awk -v got="$2" -v how="$3" -v limit="$4" 'BEGIN { exit !(got != "" && (how == "<" ? got + 0 < limit : got + 0 >= limit)) }' ||
    fail "$1: ${2:-none}, not $3 $4"
}
load() { cut -d' ' -f1 /proc/loadavg; }

throughput() {
  local backlog=${BACKLOG:-300} round before after own threads by_thread= how
  : >"$W/own"
  echo "| each batch | bytes of it sent | batches/s of a collector's core | of it wall | CPU us a batch | floor: TLS + zstd + SQLite, us | floor, batches/s of a core | of the floor | records, zstd bytes a batch | load |"
  echo "|---|---|---|---|---|---|---|---|---|---|"
  for ((round = 0; round < ${ROUNDS:-3}; round++)); do for how in alone "by the one before"; do
    fresh_collector
    before=$(cpu_of $collector)
    case $how in
    alone) boards_run --boards 32 --backlog "$backlog" --prepared --alone "${rich[@]}" || undone ;;
    *) boards_run --boards 64 --backlog "$backlog" --prepared --steady "${rich[@]}" || undone ;;
    esac
    settle
    after=$(cpu_of $collector)
    threads=$(threads_of $collector "$(figure run_batches)")
    agree
    collector_down
    "$build/tests/bench/ingest_floor" "$W/floor-$round" "${recordings[@]}" >"$W/floor"
    rm -rf "$W/floor-$round"
    own=$(awk -v cpu="$(echo "$after $before" | awk '{ print $1 - $2 }')" -v n="$(figure run_batches)" 'BEGIN { print n / cpu }')
    [ "$how" != alone ] || echo "$own" >>"$W/own"
    awk -v how="$how" -v sent="$(($(figure sent_bytes) / $(figure run_batches)))" -v own="$own" -v wall="$(figure batches_a_second)" -v load="$(load)" '
      { f[$1] = $2 }
      END { floor = f["floor_batches_a_core_second"]
            printf "| %s | %d | %.0f | %.0f | %.1f | %.1f + %.1f + %.1f | %.0f | %.3f | %.0f, %.0f | %s |\n", how, sent, own, wall, 1e6 / own,
                   f["tls_cpu_us"], f["zstd_cpu_us"], f["sqlite_cpu_us"], floor, own / floor, f["records_a_batch"], f["zstd_bytes_a_batch"], load }' "$W/floor"
    by_thread+="round $round, $how, by thread: $threads"$'\n'
  done; done
  printf '\n%s' "$by_thread"
  check "batches a second of a core" "$(sort -n "$W/own" | awk '{ own[NR] = $1 } END { print own[int((NR + 1) / 2)] }')" ">=" 5000
}

# one_size BOARDS SECONDS: fills W/fleet and W/memory.  Returns 1 when boards still had batches at the end.
one_size() {
  local all=0 ramp=$(($1 / 250 > 10 ? $1 / 250 : 10))
  fresh_collector
  watch_memory $collector &
  watcher=$!
  cpu_before=$(cpu_of $collector)
  boards_run --boards "$1" --threads 2 --duration "$(($2 + ramp))s" --window 10s --ramp "${ramp}s" ${ALONE:+--alone} "${rich[@]}" || all=1
  settle
  cpu_after=$(cpu_of $collector)
  kill $watcher
  wait $watcher 2>/dev/null || true
  watcher=
}
boards() {
  local n mib seconds=${SECONDS_EACH:-60}
  echo "| boards | batches | time to ack: p50, p99, largest ms | collector: % of a core | us a batch | RssAnon, MiB | bytes a batch sent, TLS and all | received | simulator: % of a core | load |"
  echo "|---|---|---|---|---|---|---|---|---|---|"
  for n in ${BOARDS:-100 1000 10000}; do
    one_size "$n" "$seconds" || undone
    agree
    mib=$(sort -n "$W/memory" | tail -n 1)
    awk -v n="$n" -v cpu="$(echo "$cpu_after $cpu_before" | awk '{ print $1 - $2 }')" -v rss="$mib" -v load="$(load)" '
      { f[$1] = $2 }
      END { printf "| %d | %d | %.1f, %.1f, %.1f | %.1f | %.0f | %.1f | %.0f | %.0f | %.1f | %s |\n", n, f["acks"], f["ack_p50_ms"], f["ack_p99_ms"],
                   f["ack_max_ms"], 100 * cpu / f["run_seconds"], cpu / f["acks"] * 1e6, rss, f["sent_bytes"] / f["acks"],
                   f["received_bytes"] / f["acks"], 100 * f["own_cpu_seconds"] / f["run_seconds"], load }' "$W/fleet"
    case $n in
    100) check "MiB of 100 boards" "$mib" "<" 48 ;;
    10000) check "MiB of 10 000 boards" "$mib" "<" 1024 && check "p99 of 10 000 boards, ms" "$(figure ack_p99_ms)" "<" 1000 ;;
    esac
    collector_down
  done
}

# Sends queries over all data until W/enough exists, starting with another query in each run; a line
# an answer in W/answers-N.
ask_on() { # N
  local asked=("profile?format=top" "profile?format=tree" "profile?format=columns" "load?by=function" "series?step=600" "profile?format=folded") turn=$1
  while [ ! -e "$W/enough" ]; do
    curl -sS -o /dev/null -w '%{http_code} %{time_total}\n' "http://127.0.0.1:$H/api/v1/${asked[turn++ % ${#asked[@]}]}&from=-3d" >>"$W/answers-$1" 2>/dev/null || true
  done
}
most_memory() { sort -n "$W/memory" | tail -n 1; }
questions() {
  local n=${QUESTIONED:-100} askers=${ASKERS:-8} seconds=${SECONDS_EACH:-60} pid i asking=() before while after answered
  rm -rf "$W/data" "$W/enough" "$W"/answers-*
  mkdir -p "$W/data"
  "$build/tests/bench/month_store" "$W/data" "$n" 100 3600 1 "${recordings[@]}" >"$W/made"
  A=$(port) H=$(port) && : >"$W/log"
  collector_up
  watch_memory $collector &
  watcher=$!
  "$simulator" --data "$W/data" --agents "127.0.0.1:$A" --truth "$W/truth" --boards "$n" --threads 2 --duration "$((seconds + 60))s" --window 10s --ramp 10s \
    "${rich[@]}" >"$W/fleet" 2>"$W/fleet.err" &
  pid=$!
  sleep 25
  before=$(most_memory)
  for ((i = 0; i < askers; i++)); do ask_on $i & asking+=($!); done
  sleep "$seconds"
  : >"$W/enough"
  wait "${asking[@]}"
  while=$(most_memory)
  sleep 30
  after=$(tail -n 5 "$W/memory" | sort -n | tail -n 1)
  wait $pid || undone
  kill $watcher
  wait $watcher 2>/dev/null || true
  watcher=
  agree
  answered=$(cat "$W"/answers-* | awk '{ n[$1]++; t[NR] = $2 } END { for (c in n) printf "%s%d with status %s", (m++ ? ", " : ""), n[c], c }')
  echo "| boards | they send, ms to the ack: p50, p99 | questions at once | answers | RssAnon, MiB: before | the most while asked | half a minute after | load |"
  echo "|---|---|---|---|---|---|---|---|"
  printf '| %s | %.1f, %.1f | %s | %s | %.1f | %.1f | %.1f | %s |\n' "$n" "$(figure ack_p50_ms)" "$(figure ack_p99_ms)" "$askers" "$answered" "$before" "$while" "$after" "$(load)"
  [ "$n" != 100 ] || check "MiB of 100 boards that are asked about" "$while" "<" 48
  collector_down
}

# Reads folded stacks of SAMPLES; prints each part's share. A stack belongs to the first part that
# has one of its functions.
parts_of() { # FOLDED SAMPLES
  awk -v samples="$2" '
    function part(name, pattern) { names[++parts] = name; patterns[parts] = pattern }
    BEGIN {
      part("the kernel", "\\[kernel\\]")
      part("no sample explains it", "\\[unsampled\\]")
      part("settling: finding the nodes", "node_table_map")
      part("settling: packing blocks with zstd", "block_pack")
      part("settling: sorting and encoding rows", "row_sums_merge|block_encode|series_rows_make")
      part("settling: SQLite and the rest", "run_round")
      part("writer: inflating", "packer_decompress")
      part("writer: decoding", "batch_decode")
      part("writer: compressing for the landing file", "packer_compress")
      part("writer: the landing transaction", "landing_append")
      part("writer: quotas, wishes and the rest", "writer_run")
      part("loop: handshakes", "SSL_do_handshake")
      part("loop: TLS, frames, acks", "event_base_loop")
      part("answers", "kept_metrics|run_query|http")
      part("other", ".")
    }
    { n = $NF; total += n; for (i = 1; i <= parts; i++) if ($0 ~ patterns[i]) { seen[i] += n; break } }
    END {
      for (i = 1; i <= parts; i++) {
        p = seen[i] / total; z = 1.96; d = 1 + z * z / samples # Wilson
        c = (p + z * z / (2 * samples)) / d; h = z * sqrt(p * (1 - p) / samples + z * z / (4 * samples * samples)) / d
        if (seen[i]) printf "| %s | %.1f %% [%.1f, %.1f] |\n", names[i], 100 * p, 100 * (c - h), 100 * (c + h)
      }
    }' "$1"
}
profile() {
  local how backlog=${BACKLOG:-1200} pid fleetprof="${FLEETPROF_PREFIX:?an installed tree}/bin/fleetprof"
  for how in alone "by the one before"; do
    rm -rf "$W/data" "$W/profile"
    A=$(port) H=$(port) && : >"$W/log"
    "$fleetprof" run --hz "${HZ:-125}" --output "$W/profile" -- "$build/collector/fleetprof-collector" --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" \
      >>"$W/log" 2>&1 &
    pid=$!
    for ((i = 0; i < 300; i++)); do curl -fs "http://127.0.0.1:$H/readyz" >/dev/null 2>&1 && break || sleep 0.1; done
    case $how in
    alone) boards_run --boards 32 --backlog "$backlog" --prepared --alone "${rich[@]}" || undone ;;
    *) boards_run --boards 64 --backlog "$backlog" --prepared --steady "${rich[@]}" || undone ;;
    esac
    settle
    kill "$(pgrep -P $pid -x fleetprof-colle)" && wait $pid || true
    "$fleetprof" report --format folded "$W/profile" >"$W/folded"
    "$fleetprof" report --limit 15 "$W/profile" >"$W/table"
    echo "### $how, $(figure run_batches) batches, load $(load)"
    parts_of "$W/folded" "$(awk '{ print $1; exit }' "$W/table")"
    cat "$W/table"
  done
}

most() {
  local n=${MOST_FROM:-1000} held=0
  while one_size "$n" "${SECONDS_EACH:-60}" || { echo "$n boards: some had batches left at the end, load $(load)"; false; }; do
    echo "$n boards: p99 $(figure ack_p99_ms) ms to the ack, load $(load)"
    collector_down
    awk '$1 == "ack_p99_ms" { exit $2 < 1000 }' "$W/fleet" && break
    held=$n n=$((n * 2))
    [ "$n" -le 16000 ] || break # LIMIT_CONNECTIONS
  done
  [ -z "$collector" ] || collector_down
  echo "most boards with a p99 below 1 s: $held"
}

herd() {
  local n=${HERD:-5000} pid
  fresh_collector
  "$simulator" --data "$W/data" --agents "127.0.0.1:$A" --truth "$W/truth" --boards "$n" --threads 2 --duration 130s --window 60s --ramp 20s \
    "${rich[@]}" >"$W/fleet" 2>"$W/fleet.err" &
  pid=$!
  sleep 50
  kill -9 $collector
  wait $collector 2>/dev/null || true
  collector_up
  watch_memory $collector &
  watcher=$!
  local since=$SECONDS all=
  for ((i = 0; i < 800; i++)); do
    [ "$(metric fleetprof_ingest_boards_connected)" = "$n" ] && { all=$((SECONDS - since)); break; } || sleep 0.1
  done
  wait $pid || fail "$(tail -n 1 "$W/fleet.err")"
  kill $watcher
  wait $watcher 2>/dev/null || true
  watcher=
  agree
  echo "$n boards after a kill: all in within ${all:-more than 80} s, in the busiest second $(figure returns_peak_a_second), in the mean" \
    "$(figure returns_mean_a_second); RssAnon $(sort -n "$W/memory" | tail -n 1) MiB, load $(load); $(cat "$W/agree")"
  check "seconds until all are in" "$all" "<" 61
  check "returns in the busiest second" "$(figure returns_peak_a_second)" "<" "$(figure returns_mean_a_second | awk '{ print 3 * $1 }')"
  collector_down
}

for part in "${@:-throughput boards questions most herd}"; do for one in $part; do echo "## $one"; $one; done; done
