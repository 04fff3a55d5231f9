#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of arm64 and armhf linked by lld, whose code does not begin at a page of the file,
# sampled by CPU-time timers under qemu's user mode emulation. The shares of two functions match the
# program's own figures, and stacks and pairs have its callers. Variants: PIE and not, static,
# static-pie and in a library; pages of 4 KiB and 64 KiB; code in separate pages and not; stacks,
# pairs, histogram and recorder.
#
#   lld_programs_are_told_alike.sh [ARCH]
#
# The short form runs each kind and each mode. TORTURE_LONG=1: all kinds with all flags in all
# modes. LINKER=bfd: programs linked by GNU ld instead.
. "$(dirname "$0")/lib.sh"
linker=${LINKER:-lld}
start_collector
source=$root/tests/targets/layout.c

# The cross compiler looks for linkers beside its own, where Debian has no lld.
with_linker=("-fuse-ld=$linker")
if [ "$linker" = lld ]; then
  lld=$(command -v ld.lld) || { echo "not run: ld.lld is not installed"; exit 77; }
  mkdir "$W/linkers" && ln -s "$lld" "$W/linkers/ld.lld"
  with_linker+=("-B$W/linkers")
fi

# link KIND [FLAG]...: makes ./layout of this CPU, and the names of its tables.
link() {
  local kind=$1 parts=${LIBRARY%/*}
  local carries=("$parts/libfleetprof.a" "-Wl,@$parts/libfleetprof.link") # nothing can be preloaded into a static program
  shift
  [ "$kind" != static-pie ] || [ -e "$("${CC[@]}" -print-file-name=rcrt1.o)" ] ||
    { without "$ARCH $kind" "its C library has no start file for it"; return 1; }
  local all=("${with_linker[@]}" "$@") modules=(layout)
  rm -f "$W/$ARCH/layout" "$W/$ARCH/liblayout.so"
  case $kind in
  pie) compile layout "${all[@]}" -pie "$source" ;;
  no-pie) compile layout "${all[@]}" -fno-pie -no-pie "$source" ;;
  static) compile layout "${all[@]}" -fno-pie -static "$source" "$here/emulator.c" "${carries[@]}" ;;
  static-pie) compile layout "${all[@]}" -static-pie "$source" "$here/emulator.c" "${carries[@]}" ;;
  library)
    compile liblayout.so "${all[@]}" -fPIC -shared -DIN_LIBRARY "$source"
    compile layout "${all[@]}" -DIN_PROGRAM "$source" "-L$W/$ARCH" -llayout "-Wl,-rpath,$W/$ARCH"
    modules+=(liblayout.so)
    ;;
  esac
  tables=()
  for module in "${modules[@]}"; do
    tables+=("$B/tables/$(readelf -n "$W/$ARCH/$module" | sed -n 's/.*Build ID: //p').table")
  done
}
has_tables() { for table in "${tables[@]}"; do [ -e "$table" ] || return 1; done; }
# The emulated daemon makes a table in seconds.  The first run of a program is over by then.
await_tables() {
  # A function in the background is a shell, whose child is the emulator.
  sampled warm "$W/$ARCH/layout" 120 >/dev/null 2>&1 &
  local shell=$!
  until_true 100 has_tables || fail "$ARCH: $*: the program has no table: $(ls "$B/tables"; tail -n 2 "$W/$ARCH.log")"
  kill "$(pgrep -P $shell)"
  wait $shell
}

# From folded stacks: upper's part of the time of both, the part of both with all their callers, the
# part of both in all.
cat >"$W/told.awk" <<'AWK'
/^\[(kernel|unsampled)\] [0-9]+$/ { next }
{
  weight = $NF; all += weight; stack = ";" $0; sub(/ [0-9]+$/, "", stack)
  if (stack !~ /;(upper|lower)$/) next
  both += weight
  if (stack ~ /;upper$/) upper += weight
  if (stack ~ /;main;outer;(upper|lower)$/) right += weight
}
END { printf "%.4f %.4f %.4f\n", both ? upper / both : 0, both ? right / both : 0, all ? both / all : 0 }
AWK

# of_pairs SERVICE: the part of the weight of pairs in upper and lower whose caller is outer.
of_pairs() {
  for function in upper lower; do
    api callers --data-urlencode "match={board=\"$ARCH\",service=\"$1\"}" -d from=-10m -d function=$function |
      json "'%d %d' % (d['total'], sum(e['weight'] for e in d['edges'] if e['function'] == 'outer'))"
  done | awk '{ all += $1; right += $2 } END { printf "%.4f", all ? right / all : 0 }'
}
# The collector reads code when it arrives from the board.
has_pairs() { between "$(of_pairs "$1")" .9 1; }

# told WHAT MODE: checks that for ./layout.
told() {
  local service="${1//[ ,=]/_}-$2" truth upper callers both n
  truth=$(OPTIONS="-E FLEETPROF_COLLECT=$2 -E FLEETPROF_HZ=199" sampled "$service" "$W/$ARCH/layout" 2.5) || fail "$ARCH: $*: it ended with $?"
  until_true 60 has_samples "$service" 100 || fail "$ARCH: $*: $(samples_of "$service") samples"
  until_true 60 names_are_settled || fail "$ARCH: $*: names do not settle"
  [ "$2" != pc-lr ] || until_true 30 has_pairs "$service" || fail "$ARCH: $*: $(of_pairs "$service") of both are called by outer"
  n=$(samples_of "$service")
  profile "{board=\"$ARCH\",service=\"$service\"}" -d format=folded >"$W/folded"
  read -r upper callers both < <(awk -f "$W/told.awk" "$W/folded")
  case $2 in
  stacks) ;;
  pc-lr) callers=$(of_pairs "$service") ;;
  *) callers= ;; # a place alone
  esac
  awk -v t="$truth" -v u="$upper" -v c="${callers:-1}" -v b="$both" -v n="$n" 'BEGIN { d = u - t; if (d < 0) d = -d
    exit !(d < 5 * sqrt(t * (1 - t) / n) + .02 && c >= .9 && b >= .9) }' ||
    fail "$ARCH: $*: of $n samples both have $both, upper $upper of that, truly $truth; ${callers:-none} of both have their callers: $(sort -k 2 -n -r -t ' ' "$W/folded" | head -n 4)"
  say "$ARCH: $*: $n samples, upper has $upper of both, truly $truth${callers:+; $callers have their callers}"
}
# layout MODE[,MODE]... KIND [FLAG]...
layout() {
  link "${@:2}" || return 0
  [[ ,$1, != *,stacks,* ]] || await_tables "${@:2}"
  for mode in ${1//,/ }; do told "${*:2}" "$mode"; done
}

large=-Wl,-z,max-page-size=65536 small=-Wl,-z,max-page-size=4096
for arch in arm64 armhf; do
  [ -z "${1:-}" ] || [ "$1" = $arch ] || continue
  cpu $arch || continue
  if [ -n "${TORTURE_LONG:-}" ]; then
    for kind in pie no-pie static static-pie library; do
      for flag in $small $large -Wl,-z,separate-code -Wl,-z,noseparate-code; do layout stacks,pc-lr,histogram,recorder $kind $flag; done
    done
  else
    layout stacks,pc-lr,histogram,recorder pie
    layout stacks,pc-lr no-pie $large
    layout stacks,histogram static $small
    layout stacks static-pie -Wl,-z,separate-code
    layout stacks,recorder library $large
  fi
done
