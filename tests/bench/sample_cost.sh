#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cost of a sample to the sampled program: a CPU-bound loop of fixed work, in turn with and
# without each sampler, at the given rate. The cost is the difference in the program's own CPU time
# (getrusage) divided by the samples, with a bootstrap interval over the pairs, and scaled to 99 Hz.
# It also prints the CPU time of the daemon (supervisor and worker) during the median profiled run,
# and the sum of both costs relative to the program's CPU time.
#
#   tests/bench/sample_cost.sh [PAIRS] [HZ]     (default 15 pairs, 4000 Hz; the timer sampler cannot
#                                                go beyond the kernel's tick; auto: without --hz)
# FLEETPROF_PREFIX and FLEETPROF_TARGETS as for the end-to-end tests.
. "$(dirname "$0")/../e2e/lib.sh"
pairs=${1:-15}
hz=${2:-4000}
rate=(--hz "$hz")
[ "$hz" != auto ] || rate=()
start_collector
enroll bench
work=${SPIN_WORK:-2000}
daemon_ns() { cat "/proc/$(cat "$B/fleetprofd.pid")/schedstat" "/proc/$(worker)/schedstat" | awk '{ sum += $1 } END { print sum }'; }
run -- true # the daemon is there, and its measurements are made
"$targets/spin" "$work" >/dev/null

for sampler in perf timer; do
  for pair in $(seq "$pairs"); do
    # The order alternates, so drift of the machine's speed cancels.
    order="plain profiled"
    [ $((pair % 2)) = 0 ] && order="profiled plain"
    for kind in $order; do
      if [ $kind = plain ]; then
        "$targets/spin" "$work" >"$W/plain" || fail "spin ended with $?"
      else
        before=$(daemon_ns)
        run --service "bench-$sampler-$pair" --sampler $sampler "${rate[@]}" -- "$targets/spin" "$work" >"$W/profiled" \
          || fail "spin under $sampler ended with $?"
        daemon=$(($(daemon_ns) - before))
      fi
    done
    samples=$(profile "{service=\"bench-$sampler-$pair\"}" | json "d['samples']")
    echo "$(awk '{ print $1 }' "$W/plain") $(awk '{ print $1 }' "$W/profiled") $samples $daemon" >>"$W/$sampler.pairs"
  done
  /usr/bin/python3 - "$W/$sampler.pairs" $sampler "$hz" <<'P'
import random, statistics, sys
rows = [tuple(map(float, line.split())) for line in open(sys.argv[1])]
def cost(sample):
    return sum(p - q for q, p, *_ in sample) / sum(n for _, _, n, _ in sample) * 1e9
random.seed(1)
draws = sorted(cost(random.choices(rows, k=len(rows))) for _ in range(5000))
low, mid, high = draws[125], cost(rows), draws[4875]
samples = statistics.median(n for _, _, n, _ in rows)
rate = sum(n for _, _, n, _ in rows) / sum(p for _, p, *_ in rows)
ratio = statistics.median(p / q for q, p, *_ in rows)
daemon = statistics.median(d / n for *_, n, d in rows)
spent = statistics.median(q for q, *_ in rows)
print(f"{sys.argv[2]}: asked {sys.argv[3]} Hz, achieved {rate:.0f} per CPU second, {len(rows)} pairs: "
      f"{mid:.0f} ns a sample [{low:.0f}, {high:.0f}]; CPU time with/without, median {ratio:.4f}; "
      f"at 99 Hz {mid * 99 / 1e7:.3f} % of a CPU [{low * 99 / 1e7:.3f}, {high * 99 / 1e7:.3f}]; "
      f"the daemon {daemon:.0f} ns a sample; {samples:.0f} samples of {spent:.2f} s, "
      f"together {(mid + daemon) * samples / spent / 1e7:.2f} %")
P
done
