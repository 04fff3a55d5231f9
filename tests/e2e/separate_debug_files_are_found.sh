#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stripped program whose symbols lie beside it (.gnu_debuglink, .debug/) gets its names from them;
# a program without any still has one row a function, named by its start.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
mkdir -p "$W/app/.debug"
for name in beside folder; do
  cp "$targets/truth" "$W/app/$name"
  printf '%s' "$name" >"$W/note"
  objcopy --only-keep-debug "$W/app/$name" "$W/app/$name.debug"
  (cd "$W/app" && objcopy --strip-all --add-gnu-debuglink="$name.debug" "$name")
done
mv "$W/app/folder.debug" "$W/app/.debug/"
for name in beside folder; do
  run --service $name --hz 499 --sampler perf -- "$W/app/$name" 1 >/dev/null || fail "$name ended with $?"
  share=$(profile "{service=\"$name\"}" | json "sum(f['self'] for f in d['functions'] if f['name'] in ('alpha_sixty', 'beta_thirty', 'gamma_ten')) / d['total']")
  /usr/bin/python3 -c "import sys; sys.exit($share < .9)" || fail "$name: only $share named by its debug file"
  say "$name: $share named"
done
# Without build-id: it must not be taken for the others.
objcopy --strip-all --remove-section .note.gnu.build-id "$targets/truth" "$W/app/bare"
run --service bare --hz 499 --sampler perf -- "$W/app/bare" 1 >/dev/null || fail "bare ended with $?"
want=$(nm "$targets/truth" | awk '/ (alpha_sixty|beta_thirty|gamma_ten)$/ { sub("^0*", "", $1); print "bare+0x" $1 }' | sort | tr '\n' ' ')
got=$(profile '{service="bare"}' | json "' '.join(sorted(f['name'] for f in d['functions'] if f['self_share'] > .05))")
[ "$got " = "$want" ] || fail "functions of a stripped program: $got, not $want"
api debug | json "[m['quality'] for m in d['modules'] if m['path'].endswith('/bare')]" | grep -q bounds || fail "quality of a stripped file: $(api debug)"
api debug | json "[(m['path'], m['quality']) for m in d['modules'] if m['quality'] != 'none'][:4]"
