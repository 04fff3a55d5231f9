#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Limits of the walk in a signal handler, checked in the object code with a handler's flags: nothing
# undefined once its objects are linked, no thread-local storage, no vector register, at most 896
# bytes of stack in all its frames together, no recursion.
#
#   tests/walk.sh OBJECTS     separated by ';' or spaces
set -u
IFS=' ;' read -r -a objects <<<"$*"
work=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-walk.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
STACK_MAX=896

ld -r -o "$work/walk.o" "${objects[@]}" || fail "the walk does not link"
undefined=$(nm -u "$work/walk.o")
[ -z "$undefined" ] || fail "undefined symbols in the walk:" $undefined
tls=$(readelf -rW "$work/walk.o" | grep -E 'TLS|TPOFF|DTP|GOTTP')
[ -z "$tls" ] || fail "thread-local storage in the walk: $tls"
objdump -d "$work/walk.o" >"$work/code"
[ "$(uname -m)" = x86_64 ] && grep -qE '%(xmm|ymm|zmm|st)[0-9(]' "$work/code" && fail "a vector register in the walk"

# No function calls one that calls it, so the sum of all frames is more than any path takes.
stack=0
for object in "${objects[@]}"; do
  usage=$(awk -F'\t' '$3 !~ /^static/ { print "dynamic"; exit } { sum += $2 + 8 } END { print sum + 0 }' "${object%.o}.su") || fail "no stack usage beside $object"
  case $usage in *[!0-9]* | "") fail "stack of $object: $usage" ;; *) stack=$((stack + usage)) ;; esac
done
[ $stack -ge 64 ] || fail "only $stack bytes of stack were read"
[ $stack -le $STACK_MAX ] || fail "the walk takes $stack bytes of stack; at most $STACK_MAX"
recursive=$(objdump -dr "$work/walk.o" | awk '/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); next }
  /call|bl / { if (index($0, "<" name ">")) print name }')
[ -z "$recursive" ] || fail "recursion in $recursive"
echo "walk: $stack bytes of stack, no undefined symbol"
exit $((failures > 0))
