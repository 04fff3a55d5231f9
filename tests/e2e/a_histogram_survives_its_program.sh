#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters that the daemon keeps: kill -9 of the worker, twice, and then of the program loses
# nothing. Every sample that the handler counted is shipped once, with its weight. A full one-byte
# counter is reported, and the total is still right. A library that is loaded later has separate
# rows. As this user and as user nobody.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector

# The counters as they stand in the ring (agent/ring/histogram_format.h), by the file on descriptor 9.
counters() {
  /usr/bin/python3 - <<'P'
import os, struct
ring = os.pread(9, 1 << 25, 0)
at = 4096 + (48 << 10)
bin_bytes, width, bins, used, counters, taken, samples, units, outside, saturated, contended = struct.unpack_from("<IIIIQQQQQQQ", ring, at)
kind = {1: "B", 2: "H", 4: "I"}[width]
counted = sum(struct.unpack_from(f"<{used}{kind}", ring, counters))
unit_ns, = struct.unpack_from("<Q", ring, 24)  # near the asked period
print(samples, counted + outside + saturated + contended, units, len(ring), unit_ns)
P
}
ring_of_keeper() {
  local keeper fd
  keeper=$(cat "$B/fleetprofd.pid")
  for fd in /proc/"$keeper"/fd/*; do
    case $(readlink "$fd") in */memfd:fleetprof-ring* | *.hist) echo "$fd"; return 0 ;; esac
  done
  return 1
}

# These two work on boards of their own meanwhile.
enroll plugged
run --service plugs --collect histogram --hz 499 -- "$targets/plugs" "$targets/libplugin.so" 5 >"$W/plugged" & plugs=$!
# A parent that ends at once; its child, which counts into the same ring, continues for 3 s of CPU
# time.
enroll orphan
cat >"$W/orphan.py" <<'P'
import os, time
if os.fork(): os._exit(0)
while time.process_time() < 3: pass
open(os.environ["DONE"], "w").close()
P
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
DONE=$W/done FLEETPROF_SERVICE=orphan FLEETPROF_SOCKET="$B/fleetprofd.sock" FLEETPROF_COLLECT=histogram LD_PRELOAD="$agent" \
  /usr/bin/python3 "$W/orphan.py"

enroll killed
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
FLEETPROF_SOCKET="$B/fleetprofd.sock" FLEETPROF_COLLECT=histogram FLEETPROF_HZ=499 LD_PRELOAD="$agent" \
  "$targets/truth" 60 >/dev/null &
program=$!
until_true 5 ring_of_keeper >/dev/null || fail "no ring"
exec 9<"$(ring_of_keeper)"
for pause in 2.3 2.9; do
  sleep $pause
  pid=$(worker) || fail "no worker below the keeper"
  kill -9 "$pid"
  until_true 5 worker >/dev/null || fail "the keeper did not start another worker"
done
sleep 2
kill -9 $program
wait $program 2>/dev/null
read -r samples sum units bytes unit_ns < <(counters)
[ "$samples" = "$sum" ] || fail "the handler counted $samples, its counters hold $sum"
[ "$units" -ge 500 ] && [ "$samples" -ge 100 ] && [ "$units" -ge "$samples" ] || fail "only $samples samples of $units expiries in seven seconds"
is_settled() { books_are_closed killed && [ "$(books killed | cut -d' ' -f1)" = "$samples" ]; }
until_true 20 is_settled || fail "$samples counted, the books say $(books killed)"
[ -z "$(ls -A "$B/kept" 2>/dev/null)" ] || fail "what was shipped is kept: $(ls "$B/kept")"
read -r produced stored dropped pending < <(books killed)
[ "$dropped" = 0 ] || fail "$dropped of $samples were lost with a worker that had not shipped them"
profile '{board="killed"}' >"$W/killed.json"
read -r answered weighs < <(json "'%d %.1f' % (d['samples'], d['total'] / $unit_ns)" <"$W/killed.json")
[ "$answered" = "$stored" ] || fail "the answer holds $answered samples of $stored stored"
/usr/bin/python3 -c "import sys; sys.exit(not abs($weighs - $units) <= 1)" || fail "the answer weighs $weighs expiries of $units"
say "counted $samples samples of $units expiries, produced $produced, stored $stored, which weigh $weighs, ring $bytes bytes"
exec 9<&-

enroll full
run --service full --collect histogram --counter-bytes 1 --bin-bytes 4096 --hz 499 -- "$targets/truth" 6 >"$W/full.truth" &
program=$!
says_so() { status --format json 2>/dev/null | json "any('counter of 1 bytes full' in t['why'] for t in d['targets'])" 2>/dev/null | grep -q yes; }
until_true 8 says_so || fail "no word of full counters: $(status)"
wait $program || fail "the program with one-byte counters ended with $?"
profile '{service="full"}' >"$W/full.json"
/usr/bin/python3 - "$W/full.json" "$W/full.truth" <<'P' || fail "one-byte counters are off"
import json, sys
top = json.load(open(sys.argv[1]))
spent = sum(map(float, open(sys.argv[2]).read().split()[3:]))
unsampled = sum(f["self"] for f in top["functions"] if f["name"] == "[unsampled]")
print(f"  one-byte counters: total {top['total'] / 1e9 / spent:.4f} of the CPU time, {unsampled / top['total']:.2f} of it [unsampled]")
marks = [m["mark"] for m in top["marks"]]
print(f"  marks of bins of 4096 bytes: {marks}")
sys.exit(not (.97 < top["total"] / 1e9 / spent < 1.03 and unsampled > .3 * top["total"] and "coarse_bins" in marks and "full_counters" in marks))
P

wait $plugs || fail "plugs ended with $?"
share=$(profile '{service="plugs"}' | json "sum(f['self'] for f in d['functions'] if f['name'] == 'plugin_burn' and 'libplugin' in f['module']) / 1e9 / $(cat "$W/plugged")")
/usr/bin/python3 -c "import sys; sys.exit(not .5 < $share < 1.1)" || fail "the library's rows hold $share of its time"
say "a library loaded later: $share of its time under its own name"

B=$W/board-orphan
until_true 60 test -e "$W/done" || fail "the child does not end"
no_target() { [ "$(status --format json | json "len(d['targets'])")" = 0 ]; }
until_true 10 no_target || fail "a ghost stays"
until_true 20 books_are_closed orphan || fail "the orphan's books: $(books orphan)"
seen=$(profile '{service="orphan"}' | json "d['total'] / 1e9")
/usr/bin/python3 -c "import sys; sys.exit(not 2.9 < $seen < 3.3)" || fail "$seen s seen of a child's 3 s"
say "a child that outlives its parent: $seen s seen of 3 s"
