#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two libraries in turn at the same address, one working twice as long as the other. Both have their
# own time, where each stays for a while and also where they alternate many times between two
# drains.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
share() { json "sum(f['self'] for f in d['functions'] if f['name'] == '$1') / d['total']" <"$W/profile.json"; }
holds() { /usr/bin/python3 -c "import sys; sys.exit(not ($1))" || fail "$service: not $1"; }

rows=('timer stacks 400' 'timer stacks 5' 'timer pc-lr 400' 'perf stacks 5')
running=()
for row in "${rows[@]}"; do
  read -r sampler collect milliseconds <<<"$row"
  run --service "${row// /-}" --sampler $sampler --collect $collect --hz 249 -- \
    "$targets/swaps" "$targets/libplugin.so" "$targets/libother_plugin.so" $milliseconds 4 >"$W/${row// /-}" &
  running+=($!)
done
for i in "${!rows[@]}"; do
  service=${rows[i]// /-}
  wait "${running[i]}" || fail "$service: $(cat "$W/$service")"
  [ "$(cat "$W/$service")" -ge 3 ] || fail "$service: the libraries stood at the same place $(cat "$W/$service") times"
done
until_true 10 books_are_closed board1 || fail "books $(books board1)"
for row in "${rows[@]}"; do
  service=${row// /-}
  profile "{service=\"$service\"}" >"$W/profile.json"
  a=$(share plugin_burn) b=$(share other_burn)
  say "$service: $a and $b of 0.667 and 0.333"
  holds "$a < .73 and $b < .42"
  holds "$a > .40 and $b > .18"
done
