#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The perf sampler's rate is the asked one at any CONFIG_HZ: within 2 % per second of CPU time in
# user mode, as the kernel's clock has it, at 99, 1000 and 4000 Hz.  And a program in step with the
# tick is told right: two functions 2:1 after each sleep of 3 ms (LOCKSTEP_SECONDS, 10; over 60 s
# within 3 points, shorter runs within their own statistics).
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
for hz in 99 1000 4000; do
  seconds=$([ $hz = 99 ] && echo 20 || echo 4)
  run --service "at-$hz" --sampler perf --hz $hz -- "$targets/truth" $seconds >"$W/truth" || fail "truth ended with $?"
  profile "{service=\"at-$hz\"}" >"$W/top.json" || fail "no answer for $hz Hz"
  /usr/bin/python3 - "$W/top.json" "$W/truth" $hz <<'P' || fail "$hz Hz is not achieved"
import json, sys
d, words, hz = json.load(open(sys.argv[1])), open(sys.argv[2]).read().split(), float(sys.argv[3])
aside = [f for f in d["functions"] if f["module"] in ("[kernel]", "[unsampled]")]
kernel = sum(f["self"] for f in aside if f["module"] == "[kernel]") / 1e9
weight = (d["total"] - sum(f["self"] for f in aside)) / 1e9
user = d["total"] / 1e9 - kernel
samples = weight * hz
print(f"  asked {hz:.0f} Hz: {samples / user:.1f} samples a second of {user:.2f} s in user mode")
sys.exit(abs(samples / user / hz - 1) > .02)
P
done

seconds=${LOCKSTEP_SECONDS:-10}
run --service step --sampler perf --hz 99 -- "$targets/lockstep" "$seconds" >"$W/lockstep" || fail "lockstep ended with $?"
profile '{service="step"}' >"$W/top.json" || fail "no answer for the program in step"
/usr/bin/python3 - "$W/top.json" "$W/lockstep" "$seconds" <<'P' || fail "the program in step is told wrong"
import json, math, sys
d, words = json.load(open(sys.argv[1])), open(sys.argv[2]).read().split()
names = {f["name"]: f["self"] for f in d["functions"]}
a, b = names.get("first_two_thirds", 0), names.get("second_one_third", 0)
share, true, count = a / (a + b), float(words[0]), (a + b) / 1e9 * 99
limit = max(.03, 3.3 * math.sqrt(true * (1 - true) / count))
print(f"  in step with the tick: true {true:.3f}, shown {share:.3f} of {count:.0f} samples (limit {100 * limit:.1f} points)")
sys.exit(abs(share - true) > limit)
P
