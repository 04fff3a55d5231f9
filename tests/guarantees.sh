#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guarantees.sh BUILD: every test that docs/guarantees.md names is one of BUILD's, and every claim behind a colon is
# made in that test's source; every row of its tables names at least one.
set -u
cd "$(dirname "$0")/.."
document=docs/guarantees.md
known=$(ctest --test-dir "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p')
named=0 failed=0
complain() {
  echo "$document: $*"
  failed=1
}
while IFS= read -r name; do
  test=${name%%:*}
  named=$((named + 1))
  grep -qxF "$test" <<<"$known" || complain "$test: there is no such test"
  [ "$test" = "$name" ] || grep -q "\b${name##*: }\b" "tests/$test.c" 2>/dev/null || complain "$test claims no ${name##*: }"
done < <(grep -oE '`(unit|e2e|torture|fuzz|fault)/[^`]*`' $document | tr -d '`' | sort -u)
while IFS= read -r row; do
  grep -qE '`(unit|e2e|torture|fuzz|fault)/' <<<"$row" || complain "no test proves: $row"
done < <(grep -E '^\| ' $document | grep -v '^| where ')
[ $named -gt 0 ] || complain "names no test"
echo "$named tests named"
exit $failed
