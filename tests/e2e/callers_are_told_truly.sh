#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GET /callers of a program that knows who calls whom: from stacks, and from pairs of PC and the word at the stack
# pointer, the true part of each caller lies in its edge's interval.  Of some forty functions whose intervals hold in 95
# of 100 cases a fifth misses by chance in one of thousands of runs.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board

told_in_all=0 of_all=0
is_known() { [ "$(api callers --data-urlencode "match={service=\"$1\"}" -d function=leaf_1 | json "$2")" = yes ]; }

check() { # SERVICE FUNCTIONS CONDITION: at least so many functions, once CONDITION is true of an answer
  until_true 20 is_known "$1" "$3" || fail "$1: never $3"
  /usr/bin/python3 "$(dirname "$0")/callers_told.py" "$1" "http://127.0.0.1:$H" "{service=\"$1\"}" "$W/$1.truth" 30 >"$W/$1.told" ||
    { cat "$W/$1.told"; fail "$1: no answer"; }
  grep -v ^told "$W/$1.told"
  read -r _ told functions _ < <(grep ^told "$W/$1.told")
  [ "$functions" -ge "$2" ] || fail "$1: only $functions functions could be judged"
  told_in_all=$((told_in_all + told)) of_all=$((of_all + functions))
}
run --service pairs --sampler perf --collect pc-lr --hz 1997 -- "$targets/mixed_callers" 2 >"$W/pairs.truth" || fail "pairs ended with $?"
check pairs 8 "d['lr']['by_unwind_row'] > 0"
run --service stacks --sampler perf --hz 997 -- "$targets/mixed_callers" 2 >"$W/stacks.truth" || fail "stacks ended with $?"
check stacks 8 "d['stack']['weight'] > 0"

[ $((5 * told_in_all)) -ge $((4 * of_all)) ] || fail "callers are told truly of $told_in_all of $of_all functions"

# A name that is not there is told with its neighbours; what is asked wrongly is named.
curl -sG "http://127.0.0.1:$H/api/v1/callers" -d function=leaf_12 | json "d['status'] == 404 and 'leaf_1' in d['detail']" | grep -q yes || fail "leaf_12 is not refused well"
curl -sG "http://127.0.0.1:$H/api/v1/callees" | json "d['status'] == 400 and d['parameter'] == 'function'" | grep -q yes || fail "no function is no fault"
