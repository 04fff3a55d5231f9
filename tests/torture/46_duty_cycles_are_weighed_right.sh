#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 46: 1, 10, 25 and 50 % duty: the weight of the answer is what getrusage says, within 3 % and four
# periods (samples at either end; exec and the loader, which getrusage has and the first period may
# miss).  Bursts that are in step with the kernel's tick (20 and 8 ms) and shorter than it may never meet
# a CPU-time timer, which fires at the tick: that time is [unsampled].  Where the phase wanders (20.7 and
# 7.3 ms) the samples alone must weigh as much.  By perf, which has no tick, samples and [kernel] always do.
. "$(dirname "$0")/lib.sh"
HZ=499
SINCE=2h # the long form on a busy machine
seconds=$(pick 2 60)
start_collector
enroll duty
for sampler in "${samplers[@]}"; do
  running=()
  for duty in 1:20 1:20.7 10:20.7 25:17.3 50:8 50:7.3; do
    name=duty-$sampler-${duty/:/-of-}
    fleetprof run --state "$B" --collector "127.0.0.1:$A" --service "$name" --sampler "$sampler" --hz $HZ -- \
      "$torture/duty" ${duty/:/ } "$seconds" >"$W/$name" 2>"$W/$name.err" &
    running+=($!)
  done
  for pid in "${running[@]}"; do wait "$pid" || fail "$sampler: a duty cycle ended with $?"; done
done
for file in "$W"/duty-*-of-*; do
  case $file in *.err) [ ! -s "$file" ] && continue || fail "$file: $(cat "$file")" ;; esac
  name=${file##*/}
  profile "{service=\"$name\"}" | json "'%d %d' % (d['total'], sum(f['self'] for f in d['functions'] if f['name'] != '[unsampled]'))" >"$W/weight" || fail "$name: no profile"
  read -r total weight <"$W/weight"
  used=$(cat "$file") ends=$((4 * 1000000000 / HZ))
  say "$name: getrusage $((used / 1000000)) ms, answered $((total / 1000000)) ms, of it sampled or [kernel] $((weight / 1000000)) ms"
  is_within() { local difference=$(($1 - used)); [ ${difference#-} -le $((used * $2 / 100 + ends)) ]; }
  is_within "$total" 3 || fail "$name: the answer's total is $total ns, getrusage says $used"
  case $name in *-perf-*) ;;
  *-of-20 | *-of-8 | *-1-of-*)
    marks=$(profile "{service=\"$name\"}" | json "' '.join(m['mark'] for m in d['marks']) or 'none'")
    without "samples of $name" "a timer meets the tick alone: $((weight / 1000000)) of $((used / 1000000)) ms were met, mark: $marks"
    continue
    ;;
  esac
  # A period's length is drawn anew each time, so what is met is chance too: four deviations.
  ends=$(/usr/bin/python3 -c "print(int($ends + 4 * ($used * 1e9 / $HZ) ** .5))")
  is_within "$weight" 3 || fail "$name: samples weigh $weight ns, getrusage says $used"
done
without "HZ 100, 1000 and NO_HZ_FULL" "they are other kernels than the one that runs here"
