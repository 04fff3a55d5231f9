#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A thread that takes another name for each part of its work has each part under that name, by timer
# and by perf, whether it names itself, another thread does, or a write to its file in /proc. A
# vfork child's name does not become its parent's.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1

# The last has phases of seconds: no event reports those names, and they are looked up once a second.
rows=('timer stacks self 60 12' 'timer stacks prctl 60 12' 'timer stacks other 60 12' 'timer stacks vfork 60 12' 'timer pc-lr self 60 12' 'perf stacks self 60 12'
  'timer stacks file 2500 1')
running=()
for row in "${rows[@]}"; do
  read -r sampler collect how milliseconds rounds <<<"$row"
  run --service "${row// /-}" --sampler $sampler --collect $collect --hz 249 -- "$targets/renames" $how $milliseconds $rounds &
  running+=($!)
done
for i in "${!rows[@]}"; do wait "${running[i]}" || fail "${rows[i]}: $?"; done
until_true 10 books_are_closed board1 || fail "books $(books board1)"

# The part of the time under THREAD that is in FUNCTION.
part() { # part SERVICE THREAD FUNCTION
  profile "{service=\"$1\",thread=\"$2\"}" >"$W/profile.json"
  json "sum(f['total'] for f in d['functions'] if f['name'].startswith('$3')) / max(d['total'], 1)" <"$W/profile.json"
}
for row in "${rows[@]}"; do
  service=${row// /-} least=.9
  [[ "$row" != *file* ]] || least=.6
  [[ "$row" != *pc-lr* ]] || continue # checked below: these samples have no callers
  first=$(part "$service" first first_work) second=$(part "$service" second second_work)
  say "$row: $first and $second of 1"
  awk -v a="$first" -v b="$second" -v least=$least 'BEGIN { exit !(a > least && b > least) }' || fail "$row: $first and $second"
done
# By name alone a third of the time is the second's.
profile '{service="timer-pc-lr-self-60-12",thread="second"}' >"$W/second.json"
profile '{service="timer-pc-lr-self-60-12"}' >"$W/all.json"
second=$(json "d['total']" <"$W/second.json") all=$(json "d['total']" <"$W/all.json")
say "pc-lr: $second of $all ns under the second name"
awk -v a="$second" -v b="$all" 'BEGIN { exit !(a > .25 * b && a < .42 * b) }' || fail "pc-lr: $second of $all"
# Time under the name of a vfork's child would be under neither of these.
profile '{service="timer-stacks-vfork-60-12",thread="first"}' >"$W/first.json"
profile '{service="timer-stacks-vfork-60-12",thread="second"}' >"$W/second.json"
profile '{service="timer-stacks-vfork-60-12"}' >"$W/all.json"
first=$(json "d['total']" <"$W/first.json") second=$(json "d['total']" <"$W/second.json") all=$(json "d['total']" <"$W/all.json")
awk -v a="$first" -v b="$second" -v c="$all" 'BEGIN { exit !(a + b > .9 * c) }' || fail "vfork: $first and $second of $all"
