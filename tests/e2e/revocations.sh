# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh by tests of boards that are revoked and come back.
revoke() { fleetprof-collector revoke --data "$W/data" "$@"; }
refused() { # refused PATTERN OPTION...: exit status 2 and one line
  local code
  revoke "${@:2}" >"$W/out" 2>"$W/err"
  code=$?
  [ $code = 2 ] && [ ! -s "$W/out" ] && [ "$(wc -l <"$W/err")" = 1 ] || fail "revoke ${*:2}: $code, $(cat "$W/out" "$W/err")"
  grep -q -- "$1" "$W/err" || fail "revoke ${*:2}: '$(cat "$W/err")' does not say '$1'"
}
listed() { revoke --list --format json | json "' '.join(b['board'] for b in d['boards'] if b['revoked'].endswith('Z'))"; }
is_marked() { [ "$(api boards | json "[b['revoked'] is not None for b in d['boards'] if b['name'] == '$1'] == [$2]")" = yes ]; } # is_marked BOARD True|False
why() { status --format json | json "d['uplink']['why']"; }
is_told() { why | grep -q 'revoked.*revoke --undo'; }
