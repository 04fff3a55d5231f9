#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `fleetprofd --system` sees every program and the kernel without changing any. A program that
# mostly calls the kernel shows the kernel's functions by name, the CPU time of a busy program is
# right within 2 %, a denied program has no name, and a program of `fleetprof run` counts once.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { say "only root may see the whole board"; exit 77; }
start_collector
enroll board1

# Missing privileges are reported at the start, with the remedy.
mkdir -m 700 "$W/none" && chown "$ordinary:$ordinary" "$W/none" && chmod 711 "$W"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
  as_ordinary fleetprofd --state "$W/none" --system 2>"$W/refused"
  code=$?
  [ $code = 1 ] && grep -q "CAP_PERFMON" "$W/refused" && [ "$(wc -l <"$W/refused")" = 1 ] || fail "not refused: $code $(cat "$W/refused")"
fi
fleetprofd --state "$W/none" --deny x 2>"$W/refused" && fail "--deny without --system"
grep -q -- "--system" "$W/refused" || fail "--deny without --system: $(cat "$W/refused")"

# Programs with unique names, different from those of another run of this script; secret must not be
# named.
for name in spin-$$ secret-$$ run-$$; do cp "$targets/truth" "$W/$name"; done
cp "$(command -v dd)" "$W/kernel-$$"
"$W/spin-$$" 2 >/dev/null & early=$!   # there before the daemon: its mappings come from /proc
started+=($early)
fleetprofd --state "$B" --system --system-hz 499 --deny "sec*-$$" --window 1s || fail "fleetprofd --system ended with $?"
"$W/kernel-$$" if=/dev/zero of=/dev/null bs=4k count=3000000 2>/dev/null || fail "the reader ended with $?"
"$W/secret-$$" 1 >/dev/null || fail "the secret one ended with $?"
wait $early
"$W/spin-$$" 3 >"$W/spin" || fail "the busy one ended with $?"
run --sampler perf --hz 499 -- "$W/run-$$" 3 >"$W/run-perf" || fail "the run by perf ended with $?"
cp "$W/run-$$" "$W/timer-$$"
run --sampler timer --hz 499 -- "$W/timer-$$" 3 >"$W/run-timer" || fail "the run by timer ended with $?"
run -- true
kernel_is_named() { profile "{service=\"kernel-$$\"}" | json "sum(f['self'] for f in d['functions'] if f['module'] == '[kernel]' and f['name'] != '[kernel]') > 0.5 * d['total']" | grep -q yes; }
until_true 60 kernel_is_named || fail "the kernel's functions have no names: $(profile "{service=\"kernel-$$\"}" | head -c 600)"
profile "{service=\"kernel-$$\"}" | json "', '.join('%s %.0f%%' % (f['name'], 100 * f['self_share']) for f in d['functions'][:6])" | sed 's/^/  a reader of \/dev\/zero: /'
reads_are_named() { profile "{service=\"kernel-$$\"}" -d limit=1000 | json "any('read' in f['name'] and f['module'] == '[kernel]' and f['total_share'] > .1 for f in d['functions'])" | grep -q yes; }
until_true 60 reads_are_named || fail "no read in the kernel"
profile "{service=\"kernel-$$\"}" -d limit=1000 | json "[f['name'] for f in d['functions'] if f['name'].startswith('[kernel]+')]" | grep -q '^\[\]$' || fail "a nameless address of the kernel"

# CPU time of a busy program: the two runs of it, of which the first began before the daemon.
is_told() {
  local service=$1 file=$2 limit=$3 more=$4
  profile "{service=\"$service\"$more}" >"$W/top.json" || return 1
  /usr/bin/python3 - "$W/top.json" "$file" "$service" "$limit" "$(stolen_since)" >"$W/told" <<'P'
import json, sys
d, words = json.load(open(sys.argv[1])), open(sys.argv[2]).read().split()
spent, total = float(words[3]) + float(words[4]), d["total"] / 1e9
names = {f["name"]: f["self"] / d["total"] for f in d["functions"]}
print(f"  {sys.argv[3]}: {total:.3f} s of {spent:.3f} s;", ", ".join(f"{n} {names.get(n, 0):.3f}" for n in ("alpha_sixty", "beta_thirty", "gamma_ten")))
limit, stolen = map(float, sys.argv[4:])
sys.exit(not -limit <= total / spent - 1 <= limit + stolen / spent or abs(names.get("alpha_sixty", 0) - float(words[0])) > .05)
P
}
# A busy board sends later than run waits.
check() { until_true 120 is_told "$@" || fail "$1 is off: $(cat "$W/told"); $(api loss)"; cat "$W/told"; }
# By perf or timer, and not by the board as well.
check run-$$ "$W/run-perf" 0.02 ""
check timer-$$ "$W/run-timer" 0.03 ""
api profile --data-urlencode "match={service=\"spin-$$\"}" -d from=-10m >/dev/null || fail "the busy one is not there"

# The secret program is part of a row without a name.
s=$(api labels/service -d from=-10m | json "'[others]' in d['data'] and not any('secret-$$' in v for v in d['data'])")
[ "$s" = yes ] || fail "the secret one has a name: $(api labels/service -d from=-10m)"
s=$(api labels/exe -d from=-10m | json "not any('secret-$$' in v for v in d['data'])")
[ "$s" = yes ] || fail "the secret one's path was shipped"
say "others: $(profile '{service="[others]"}' | json "d['total'] / 1e9") s"

# The busy program alone: a second board, so that the first run of it is not in the sum.
kill "$(cat "$B/fleetprofd.pid")"
enroll board2
fleetprofd --state "$B" --system --allow spin-$$ --system-hz 499 --window 1s || fail "fleetprofd --system ended with $?"
"$W/spin-$$" 5 >"$W/spin" || fail "the busy one ended with $?"
old=$(worker)
kill -9 "$old"
until_true 5 eval '[ -n "$(worker)" ] && [ "$(worker)" != "$old" ]' || fail "no new worker"
"$W/spin-$$" 2 >"$W/again" || fail "the busy one ended with $?"
run -- true
/usr/bin/python3 - "$W/spin" "$W/again" >"$W/both" <<'P'
import sys
a, b = (open(f).read().split() for f in sys.argv[1:])
print(a[0], a[1], a[2], float(a[3]) + float(b[3]), float(a[4]) + float(b[4]))
P
say "the second worker's board: $(profile "{board=\"board2\",service=\"spin-$$\"}" | json "d['total'] / 1e9") s of $(cut -d' ' -f4 "$W/both") s, what the dead one had open is counted as lost"
s=$(api labels/service -d from=-10m --data-urlencode 'match={board="board2"}' | json "sorted(v for v in d['data'] if v != 'true')")
[ "$s" = "['[others]', 'spin-$$']" ] || fail "more than what is allowed: $s"
kill "$(cat "$B/fleetprofd.pid")"
enroll board3
fleetprofd --state "$B" --system --allow spin-$$ --system-hz 499 --window 1s || fail "fleetprofd --system ended with $?"
"$W/spin-$$" 5 >"$W/spin" || fail "the busy one ended with $?"
run -- true
# Where other programs use the CPUs too, the program running at a sample is random: then 2 % plus
# that variation.
limit=$(profile '{board="board3"}' | json "0.02 + 4 * (1 - 5e9 / max(5e9, d['total'])) ** .5 / (5 * 499) ** .5")
say "limit $limit"
check spin-$$ "$W/spin" "$limit" ',board="board3"'
