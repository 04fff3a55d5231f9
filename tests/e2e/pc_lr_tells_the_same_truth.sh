#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two words a sample instead of a stack: the 60/30/10 program's shares are still its own within 3
# points and the total is its CPU time within 1 %; no frame is shown as a caller that only a link
# register named.  By perf and by timer.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
check() { # SERVICE: the answer and the folded stacks against what the program printed
  profile "{service=\"$1\"}" >"$W/$1.json" || fail "no answer for $1"
  profile "{service=\"$1\"}" -d format=folded >"$W/$1.folded" || fail "no folded stacks for $1"
  /usr/bin/python3 - "$W/$1.json" "$W/$1.truth" "$W/$1.folded" "$1" <<'P' || fail "$1 is off"
import json, sys
top = json.load(open(sys.argv[1]))
alpha, beta, gamma, user, system = map(float, open(sys.argv[2]).read().split())
truth = {"alpha_sixty": alpha, "beta_thirty": beta, "gamma_ten": gamma}
got = {name: sum(f["self"] for f in top["functions"] if f["name"] == name) for name in truth}
three = sum(got.values()) or 1
wrong = [f"{n}: {got[n] / three:.3f} for {t:.3f}" for n, t in truth.items() if abs(got[n] / three - t) > .03]
total = top["total"] / 1e9 / (user + system)
if abs(total - 1) > .01:
    wrong.append(f"total is {total:.4f} of the program's CPU time")
if three / top["total"] < .9:
    wrong.append(f"the three functions hold only {three / top['total']:.3f} of all")
callers = [line for line in open(sys.argv[3]) if ";" in line.rsplit(" ", 1)[0]]
if callers:
    wrong.append("a caller is shown: " + callers[0].strip())
shares = " ".join(f"{got[n] / three:.3f}/{t:.3f}" for n, t in truth.items())
print(f"  {sys.argv[4]}: shares {shares}, total {total:.4f}, {top['samples']} samples")
for line in wrong:
    print("  wrong:", line)
sys.exit(bool(wrong))
P
}
for sampler in perf timer; do
  enroll "board-$sampler"
  # 4000 and 3000 samples: 3 points are more than three standard deviations of a share.
  [ $sampler = perf ] && hz=997 seconds=4 || hz=249 seconds=12
  run --service "lr-$sampler" --sampler $sampler --collect pc-lr --hz $hz -- "$targets/truth" $seconds \
    >"$W/lr-$sampler.truth" || fail "the program under $sampler ended with $?"
  check "lr-$sampler"
done
