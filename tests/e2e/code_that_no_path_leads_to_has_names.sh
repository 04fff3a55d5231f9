#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program runs from memory, its file is unlinked or replaced while it runs, its text is moved to
# other memory, or its file is in a mount namespace that ends with it. Its functions have names and
# its stacks are whole, and no name is from another file at that path. With an ordinary user's
# privileges and with root's.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
export HOME=$W/home TMPDIR=$W/tmp
mkdir -m 700 "$W/home" "$W/tmp"
unset XDG_STATE_HOME XDG_RUNTIME_DIR
cd "$W" || fail "no folder"
cc -O2 -xc - -o other <<<'void replaced_work(void) { } int main(void) { replaced_work(); return 0; }' || fail "no compiler"

# part FILE FUNCTION: its share of the samples, in main or inlined there.
part() {
  fleetprof report "$1" --format folded 2>err | awk -v name="$2" '/^\[(kernel|unsampled)\] [0-9]+$/ { next }
    { all += $NF } $0 ~ "(^|;)main;" name "(;| [0-9]+$)" { part += $NF } END { printf "%.3f", all ? part / all : 0 }'
}
check() { # check NAME
  local first second
  first=$(part "$1.fp" first_work) second=$(part "$1.fp" second_work)
  say "$1: $first and $second of 0.667 and 0.333"
  # A timer expires at a tick, whose position in a burst depends on load.
  awk -v a="$first" -v b="$second" -v wide="$([[ $1 = *-timer ]] && echo .1)" \
    'BEGIN { wide += 0; exit !(a > .55 - wide && a < .78 + wide && b > .22 - wide && b < .45 + wide) }' ||
    fail "$1: $first and $second: $(fleetprof report "$1.fp" 2>&1 | head -n 8)"
  ! fleetprof report "$1.fp" --format folded 2>/dev/null | grep -q replaced_work || fail "$1: a name of another file"
}
for sampler in perf timer; do
  for how in memfd unlink replace mremap copy; do
    cp "$targets/no_file" app && cp other next || fail "no copy"
    fleetprof run --sampler $sampler --hz 249 --output $how-$sampler.fp -- ./app $how 1.5 next || fail "$how: $?"
    check $how-$sampler
  done
done

# In a mount namespace of its own another program stands at that path for everybody else.
namespace=(unshare --mount)
[ "$(id -u)" = 0 ] || namespace=(unshare --user --map-root-user --mount)
if "${namespace[@]}" true 2>/dev/null; then
  mkdir -p inside && cp other inside/app && cp "$targets/no_file" original
  cat >inner.sh <<'S'
mount -t tmpfs none inside && cp original inside/app && exec inside/app plain 1.5
S
  fleetprof run --sampler perf --hz 249 --output namespace.fp -- "${namespace[@]}" bash inner.sh || fail "namespace: $?"
  check namespace
else
  without "a mount namespace" "unshare is refused here"
fi
