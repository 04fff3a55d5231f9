#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stripped program whose symbols lie beside it (.gnu_debuglink, .debug/) is named by them.
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
api debug | json "[(m['path'], m['quality']) for m in d['modules'] if m['quality'] != 'none'][:4]"
