#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that knows its own 60/30/10 truth: each share within 2 points, the three functions hold
# at least 95 % of all, and the total weight is the program's own CPU time (perf 1 %, timer 3 %).
# 8000 samples each: 2 points are then more than three and a half standard deviations of a share.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
for sampler in perf timer; do
  [ $sampler = perf ] && hz=997 seconds=8 || hz=249 seconds=32 # a timer has the kernel's tick at most
  run --service "truth-$sampler" --sampler $sampler --hz $hz -- "$targets/truth" $seconds >"$W/$sampler.truth" \
    || fail "the program under $sampler ended with $?"
done
for sampler in perf timer; do
  profile "{service=\"truth-$sampler\"}" >"$W/$sampler.json" || fail "no answer for $sampler"
  /usr/bin/python3 - "$W/$sampler.json" "$W/$sampler.truth" $sampler <<'P' || fail "$sampler is off"
import json, sys
top = json.load(open(sys.argv[1]))
alpha, beta, gamma, user, system = map(float, open(sys.argv[2]).read().split())
truth = {"alpha_sixty": alpha, "beta_thirty": beta, "gamma_ten": gamma}
got = {name: sum(f["self"] for f in top["functions"] if f["name"] == name) for name in truth}
three = sum(got.values()) or 1
wrong = [f"{n}: {got[n] / three:.3f} for {t:.3f}" for n, t in truth.items() if abs(got[n] / three - t) > .02]
if three / top["total"] < .95:
    wrong.append(f"the three functions hold only {three / top['total']:.3f} of all")
total = top["total"] / 1e9 / (user + system)
if abs(total - 1) > (.01 if sys.argv[3] == "perf" else .03):
    wrong.append(f"total is {total:.4f} of the program's CPU time")
shares = " ".join(f"{got[n] / three:.3f}/{t:.3f}" for n, t in truth.items())
print(f"  {sys.argv[3]}: shares {shares}, total {total:.4f}, {top['samples']} samples")
for line in wrong:
    print("  wrong:", line)
sys.exit(bool(wrong))
P
done
