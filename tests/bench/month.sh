#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# month.sh [PART...]: size and query times of a store of a month. Boards are simulated
# (month_store), from windows of real programs of which PERCENT (10) of the records are kept,
# because a recorded program is busy all day. Without PART, all parts run:
#
#   bytes   a day of TIER_BOARDS (20) boards in windows of 10 s, and of 100 boards in windows of an hour (with the same sums of hours, also merged over
#           boards), with PERCENT of the records and with all: bytes a sample in each tier, and the size of 100 boards over 30 days by default
#   week    WEEK_BOARDS (100) boards x 7 days    `top` over all boards, over one label value and over half of the boards by a regular expression, REPEATS
#   month   MONTH_BOARDS (1000) boards x 30 days (11) times each: median, slowest, CPU time of the collector a query (without compaction); alone, and (except
#                                                the last) with boards that send for 30 ms and then pause for FEED_PAUSE (0.07 s): FEED_BOARDS (32) with a prepared backlog of FEED (2500 batches each).
#                                                The number stored meanwhile is printed: the aim is half of fleet.sh's limit
#
# One day is made and rolled up. The other days are copies of its hours file under other dates, as
# retention leaves them (days older than a week have the sums of days). Each file is read
# separately, so a copy costs as much as another day of the same programs. The range ends where
# today begins: it excludes the data that the boards send meanwhile, but not the effect of their
# compaction and locks. A day of 1000 boards takes some ten minutes to make: KEEP=DIR keeps the
# stores there and reuses them. BUILD: a build directory (build), or several to compare, of type
# Release or RelWithDebInfo; figures of other types mean nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
builds=${BUILD:-build} percent=${PERCENT:-10} repeats=${REPEATS:-11}
W=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-month.XXXXXX")
kept=${KEEP:-$W/kept} collector= simulator= pulse= build=${builds%% *}
finish() {
  for pid in $pulse $simulator $collector; do kill -CONT "$pid" 2>/dev/null || true; kill "$pid" 2>/dev/null && wait "$pid" || true; done
  rm -rf "$W"
}
trap finish EXIT
recordings=(tests/fleet/captured/*.spool)
fail() { echo "FAILED: $*"; tail -n 5 "$W/log"; exit 1; }
ticks=$(getconf CLK_TCK)

# make_store DIR BOARDS PERCENT SECONDS; month_store's output is in DIR.made
make_store() {
  [ ! -f "$1.made" ] || return 0
  rm -rf "$1"
  mkdir -p "$1"
  "$build/tests/bench/month_store" "$@" 1 "${recordings[@]}" >"$1.making"
  mv "$1.making" "$1.made"
}

# copy_days FROM TO DAYS: the folder TO, with FROM's day and its file of hours as those of the days before.
copy_days() {
  /usr/bin/python3 - "$@" <<'END'
import datetime, glob, os, shutil, sqlite3, sys
source, folder, days = sys.argv[1], sys.argv[2], int(sys.argv[3])
shutil.copytree(source, folder)
newest = max(glob.glob(f"{source}/hours-*.db"))
day = datetime.date.fromisoformat(os.path.basename(newest)[len("hours-"):-len(".db")])
HOUR_TIER, HOUR_MS, DAY_MS, KEPT_DAYS = 2, 3600000, 86400000, 7
for back in range(1, days):
    path = f"{folder}/hours-{day - datetime.timedelta(back)}.db"
    shutil.copy(newest if back <= KEPT_DAYS + 1 else dropped, path)
    db = sqlite3.connect(path, isolation_level=None)
    if back == KEPT_DAYS + 1:
        db.execute(f"DELETE FROM block WHERE tier={HOUR_TIER}")
        db.execute(f"DELETE FROM grouped WHERE tier={HOUR_TIER}")
        db.execute(f"INSERT INTO dropped VALUES({HOUR_TIER})")
        db.execute("VACUUM")
    shift = DAY_MS if back > KEPT_DAYS + 1 else back * DAY_MS
    db.execute("BEGIN")
    db.execute("UPDATE block SET start_ms=start_ms-?", (shift,))
    db.execute("UPDATE rolled SET bucket=bucket-?", (shift // HOUR_MS,))
    db.execute("UPDATE grouped SET start_ms=start_ms-?", (shift,))
    db.execute("UPDATE loss SET hour_ms=hour_ms-?", (shift,))
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    dropped = path
END
}

port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
collector_up() {
  A=$(port) H=$(port)
  "$build/collector/fleetprof-collector" --data "$1" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" >"$W/log" 2>&1 &
  collector=$!
  for ((i = 0; i < 600; i++)); do curl -fs "http://127.0.0.1:$H/readyz" >/dev/null 2>&1 && return || sleep 0.1; done
  fail "no collector"
}
collector_down() { kill $collector; wait $collector || true; collector=; }
# CPU time of the threads that answer, in ms.
cpu_ms() { cat /proc/$collector/task/*/stat | awk -v hz="$ticks" '/\((query|http)/ { sub(/.*\) /, ""); sum += $12 + $13 } END { print sum * 1000 / hz }'; }
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }

# ask WHAT MATCH DAYS: a row
ask() {
  local before after to=$(($(date +%s) / 86400 * 86400)) i url
  url="http://127.0.0.1:$H/api/v1/profile?format=top&from=$((to - $3 * 86400))&to=$to$2"
  curl -fsS -o "$W/answer" "$url" || fail "no answer"
  before=$(cpu_ms)
  for ((i = 0; i < repeats; i++)); do curl -fsS -o /dev/null -w '%{time_total}\n' "$url"; done | sort -n >"$W/times"
  after=$(cpu_ms)
  awk -v what="$1" -v cpu="$(echo "$after $before $repeats" | awk '{ print ($1 - $2) / $3 }')" -v load="$(cut -d' ' -f1 /proc/loadavg)" \
    -v samples="$(grep -o '"samples":[0-9]*' "$W/answer" | head -n 1 | cut -d: -f2)" -v rss="$(awk '/^RssAnon/ { print $2 / 1024 }' /proc/$collector/status)" \
    '{ t[NR] = $1 * 1000 } END { printf "| %s | %.0f | %.0f | %.0f | %.0f M | %.1f | %s |\n", what, t[int((NR + 1) / 2)], t[NR], cpu, samples / 1e6, rss, load }' "$W/times"
}
# ask_all BOARDS DAYS
ask_all() {
  local service before since
  collector_up "$W/store"
  service=$(curl -fsS "http://127.0.0.1:$H/api/v1/load?by=service&from=-2d&limit=1" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"][0]["name"])')
  echo "| $build: $1 boards x $2 days | median, ms | slowest | CPU, ms | samples | RssAnon, MiB | load |"
  echo "|---|---|---|---|---|---|---|"
  ask "all boards" "" "$2"
  ask "service $service" "&match=%7Bservice%3D%22$service%22%7D" "$2"
  ask "half of the boards, by name" "&match=%7Bboard%3D~%22.*%5B02468%5D%22%7D" "$2"
  local rich=(--records-min 500 --nodes-min 180) file
  for file in "${recordings[@]}"; do rich+=(--recording "$file"); done
  "$build/tests/fleet/fleetsim" --data "$W/store" --agents "127.0.0.1:$A" --boards "${FEED_BOARDS:-32}" --window 1s --prepared \
    --backlog "${FEED:-2500}" "${rich[@]}" >"$W/fleet" 2>&1 &
  simulator=$!
  while [ "$(metric fleetprof_store_appended_total)" = 0 ]; do sleep 0.2; kill -0 $simulator || fail "$(tail -n 1 "$W/fleet")"; done
  while sleep 0.03 && kill -STOP $simulator; do sleep "${FEED_PAUSE:-0.07}" && kill -CONT $simulator; done 2>/dev/null &
  pulse=$!
  before=$(metric fleetprof_store_appended_total) since=$(date +%s%N)
  ask "all boards, while boards send" "" "$2"
  ask "service $service, while boards send" "&match=%7Bservice%3D%22$service%22%7D" "$2"
  awk -v n="$(($(metric fleetprof_store_appended_total) - before))" -v ns="$(($(date +%s%N) - since))" 'BEGIN { printf "stored meanwhile: %.0f batches a second\n", n / ns * 1e9 }'
  kill $pulse 2>/dev/null && wait $pulse || true
  kill -CONT $simulator 2>/dev/null && kill $simulator || true
  wait $simulator || true
  pulse= simulator=
  collector_down
}
days_of() { # NAME BOARDS DAYS
  mkdir -p "$kept"
  make_store "$kept/$1" "$2" "$percent" 3600
  rm -rf "$W/store"
  copy_days "$kept/$1" "$W/store" "$3"
  for build in $builds; do ask_all "$2" "$3"; done
  rm -rf "$W/store"
}
week() { days_of week "${WEEK_BOARDS:-100}" 7; }
month() { days_of month "${MONTH_BOARDS:-1000}" 30; }

bytes() {
  local kept_percent n=${TIER_BOARDS:-20}
  mkdir -p "$kept"
  for kept_percent in "$percent" 100; do
    make_store "$kept/bytes-$kept_percent" "$n" "$kept_percent" 10
    make_store "$kept/hours-$kept_percent" 100 "$kept_percent" 3600
    /usr/bin/python3 - "$kept/bytes-$kept_percent" "$kept/hours-$kept_percent" "$n" "$kept_percent" <<'END'
import glob, sqlite3, sys
fine, coarse, boards, percent = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
def samples_of(folder):
    return int(dict(line.split() for line in open(folder + ".made"))["samples"])
def blocks(folder, kind):  # the bytes of the file, and of its blocks by (tier, are merged)
    path, = glob.glob(f"{folder}/{kind}-20*.db")
    db = sqlite3.connect(path)
    size = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]
    what = "0, 0" if kind == "day" else "tier, (SELECT grp > 0 FROM series WHERE series.id = block.series)"
    return size, {row[:2]: row[2] for row in db.execute(f"SELECT {what}, sum(length(bytes)) FROM block GROUP BY 1, 2")}
windows, minutes = [blocks(fine, kind)[0] / samples_of(fine) for kind in ("day", "minutes")]
size, tiers = blocks(coarse, "hours")
samples = samples_of(coarse)
hours, day = size / samples, size / samples * sum(b for (tier, _), b in tiers.items() if tier == 3) / sum(tiers.values())
print(f"{percent} % of the records kept: {samples / 100 / 86400:.1f} samples a second of a board")
print(f"| file, a day | bytes a sample |\n|---|---|\n| windows | {windows:.2f} |\n| five minutes | {minutes:.2f} |\n| hours and the day | {hours:.3f} |")
for (tier, merged), size in sorted(tiers.items()):
    print(f"| of it: {'hours' if tier == 2 else 'the day'}{', merged over boards' if merged else ''} | {size / samples:.3f} |")
# The file of windows has six hours of its day, and yesterday's is there until six; five minutes of 1 d stay up to a day longer.
month = [2 * windows * samples, 2 * minutes * samples, 8 * hours * samples, 23 * day * samples]
print("100 boards, 30 days, GB: " + " + ".join(f"{part / 1e9:.2f}" for part in month) + f" (2 files of windows, 2 days of five minutes, 8 of hours, 23 of days) = {sum(month) / 1e9:.2f}")
END
  done
}

for part in "${@:-bytes week month}"; do for one in $part; do echo "## $one"; $one; done; done
