#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program closes a library while the first page of another is protected, or the other's file was
# truncated: it continues, as without the agent.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"

for how in protect truncate; do
  for prefix in "" "fleetprof run --service $how --sampler timer --"; do
    cp "$targets/libother_plugin.so" "$W/other.so"
    # shellcheck disable=SC2086
    said=$($prefix "$targets/closes" "$targets/libplugin.so" "$W/other.so" $how 2>"$W/why") ||
      fail "$how, ${prefix:-alone}: ended with $?: $(cat "$W/why")"
    [ "$said" = 5 ] || fail "$how, ${prefix:-alone}: $said of 5 were closed"
  done
done
