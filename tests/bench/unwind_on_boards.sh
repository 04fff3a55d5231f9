#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How stacks end on whole boards of other CPUs, and whether they are right. Debian's kernel for the
# port runs in an emulator with our daemon, command line and agent; programs are sampled by perf and
# by timer. Prints a row of docs/performance.md for each, from the answers of a collector on this
# machine.
#
#   FLEETPROF_PREFIX=INSTALLED tests/bench/unwind_on_boards.sh [armhf|arm64...]      (both unless given)
#
# INSTALLED is this machine's own build; the board's programs are built by the presets
# (tests/boards/board.sh). FLEETPROF_BOARDS is the cache of downloads. Each program works for
# BENCH_SECONDS (6) of the board's time, sampled at BENCH_HZ (99). BENCH_ANSWERS=DIR keeps the
# answers, whose folded stacks show where short stacks end.
#
# Sources of unwind information on the board:
#
#   .eh_frame       (arm64) as Debian's compiler leaves it
#   exidx           (armhf) compiled with -funwind-tables and stripped; the C library as Debian ships it
#   .debug_frame    compiled without; .ARM.exidx removed, from the C library too; debug files under
#                   /usr/lib/debug/.build-id on the board, where the daemon looks by build-id (elf/debug_find.c),
#                   the C library's from libc6-dbg
#   neither         the same without debug files: only instructions are read
#
# The programs: tests/targets/chain, whose calls are known; Lua, built from Debian's source package,
# running a script that recurses, sorts, matches and collects; xz as Debian ships it, whose code has
# no index (Debian's main archive has no debug file of it). All are without frame pointers and, on
# the board, without symbols.
#
# Tables are made in advance: a first run without tables has short stacks until they exist (reported
# in a line for each variant). "First caller right": in chain, bottom called by small_frame. In Lua
# on armhf, the part of the samples whose innermost function and caller are a pair that the runs
# with .debug_frame have too; a pair too rare to occur twice counts as wrong. "Whole stack right":
# in chain, one of its two true stacks from work down to bottom.
. "$(dirname "$0")/../e2e/lib.sh"
. "$(dirname "$0")/../boards/board.sh"
seconds=${BENCH_SECONDS:-6} hz=${BENCH_HZ:-99}

cat >"$W/work.lua" <<'LUA'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function words(text)
  local seen = {}
  text:gsub("%a+", function(word) seen[word] = (seen[word] or 0) + #word:upper():reverse() end)
  return seen
end
local function sorted(n)
  local list = {}
  for i = 1, n do list[i] = { key = i * 7919 % n, name = string.format("%05d:%s", i, "x") } end
  table.sort(list, function(a, b) return a.key < b.key end)
  return list
end
local function produced(n)
  local sum, each = 0, coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
  for i = 1, n do sum = sum + each() end
  return sum
end
local function caught(n)
  for i = 1, n do pcall(function(x) if x % 2 == 0 then error({ x }) end return tostring(x) .. x end, i) end
end
local text = string.rep("the quick brown fox jumps over the lazy dog ", 60)
repeat
  fib(17) words(text) sorted(300) produced(400) caught(300)
  load("return function(a, b) local c = a + b; return {c, a = b, [c] = 'x'} end")()(1, 2)
until os.clock() > tonumber(arg[1])
LUA

# variant_flags VARIANT: the compiler flags of its programs.
variant_flags() {
  echo "-O2 -g -fomit-frame-pointer -static-libgcc -Wl,--build-id -Wl,-rpath,/v/$1/lib -Wl,--dynamic-linker=/v/$1/lib/$loader"
  [ "$1" != exidx ] || echo -funwind-tables
}
build_id() { LC_ALL=C readelf -nW "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }
# without_index FILE: removes ARM's index from it.
without_index() {
  "$TRIPLET-objcopy" --remove-section .ARM.exidx --remove-section .ARM.extab "$1" 2>"$W/objcopy.log" || fail "$1: $(cat "$W/objcopy.log")"
  ! LC_ALL=C readelf -lW "$1" | awk '$1 == "EXIDX" && $5 !~ /^0x0+$/ { found = 1 } END { exit !found }' || fail "$1 still has an index"
}
# names_for FILE: the collector has the names of FILE, by its build-id.
names_for() { curl -fsS -H "Authorization: Bearer $symbols" -T "$1" "http://127.0.0.1:$H/api/v1/debug/$(build_id "$1")" >/dev/null || fail "no names of $1"; }

# on_board VARIANT NAME FILE: copies FILE, which has all information, in the form of that variant,
# with its debug file if the variant has one.
on_board() {
  local at=$W/root/v/$1/$2 id debug
  mkdir -p "${at%/*}" && "$TRIPLET-strip" -o "$at" "$3" || fail "$3 cannot be stripped"
  case $1 in .debug_frame | neither) without_index "$at" ;; esac
  [ "$1" = .debug_frame ] || return 0
  id=$(build_id "$3") debug=$W/root/v/$1/debug/.build-id/${id:0:2}
  mkdir -p "$debug" && "$TRIPLET-objcopy" --only-keep-debug "$3" "$debug/${id:2}.debug" || fail "no debug file of $3"
}

variant_programs() { # variant_programs VARIANT
  local flags lua name id
  flags=$(variant_flags "$1")
  lua=$boards_cache/source/lua5.4
  "$TRIPLET-gcc" "--sysroot=$SYSROOT" $flags -o "$W/chain" "$boards_source/tests/targets/chain.c" -pthread || fail "chain"
  "$TRIPLET-gcc" "--sysroot=$SYSROOT" $flags -w -DLUA_USE_POSIX -o "$W/lua" $(ls "$lua"/src/*.c | grep -v /luac.c) -lm || fail "lua"
  for name in chain lua; do
    names_for "$W/$name"
    on_board "$1" "bin/$name" "$W/$name"
  done
  for name in libc.so.6 libm.so.6 "$loader"; do
    cp "$(library "$name")" "$W/library" && on_board "$1" "lib/$name" "$W/library"
    id=$(build_id "$W/library")
    [ "$1" = .debug_frame ] || continue
    cp "$(fetched libc6-dbg)/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" "$W/root/v/$1/debug/.build-id/${id:0:2}/" || fail "no debug file of $name"
  done
}

one_board() {
  local variants loader name id variant sampler program answered
  case $1 in
  armhf) variants="exidx .debug_frame neither" loader=ld-linux-armhf.so.3 ;;
  arm64) variants=.eh_frame loader=ld-linux-aarch64.so.1 ;;
  *) fail "$1: armhf or arm64" ;;
  esac
  board_begin "$1"
  board_install
  cp -L "$(fetched liblzma5)"/lib/"$TRIPLET"/liblzma.so.5 "$W/root/lib/" || fail "no liblzma"
  board_add "$(fetched xz-utils)/usr/bin/xz"
  "$boards_source/tests/boards/fetch.sh" source lua5.4 "$boards_cache/source/lua5.4" || fail "no source of Lua"
  for name in libc.so.6 "$loader"; do
    id=$(build_id "$(library "$name")")
    names_for "$(fetched libc6-dbg)/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
  done
  for variant in $variants; do variant_programs "$variant"; done
  cp "$W/work.lua" "$W/root/work.lua"
  NOW=$(date +%s)
  TOKEN=$(fleetprof-collector token --data "$W/data" --board "$1") || fail "no token"
  BOARD_ENVIRONMENT="A=$A TOKEN=$TOKEN HZ=$hz LONG=$seconds VARIANTS='$variants'"
  board_start "${MIB:-384}" 3000 <<'T'
PATH=/opt/bin:$PATH
B=/var/board
fleetprof enroll --collector "10.0.2.2:$A" --token "$TOKEN" --state $B
mkdir -p /usr/lib
sampled() { # sampled PROGRAM COMMAND...
  service=$variant-$1-$sampler$lap
  shift
  LD_LIBRARY_PATH=/v/$variant/lib fleetprof run --state $B --collector "10.0.2.2:$A" --service $service --sampler $sampler --hz $HZ --flush-timeout 60s -- "$@" >/dev/null
}
programs() { # programs SECONDS
  sampled chain /v/$variant/bin/chain $1
  sampled lua /v/$variant/bin/lua /work.lua $1
  [ $variant = .debug_frame ] || sampled xz xz -c /opt/bin/fleetprofd
}
tables() { fleetprof status --state $B --format json | tr ',{' '\n\n' | awk -F: -v key="\"$1\"" '$1 == key { print $2 + 0; exit }'; }
are_ready() { [ "$(tables ready)" -gt 1 ] && [ "$(tables waiting)" = 0 ]; }
for variant in $VARIANTS; do
  rm -rf /usr/lib/debug $B/tables
  [ ! -d /v/$variant/debug ] || busybox mv /v/$variant/debug /usr/lib/debug
  fleetprofd --state $B --collector "10.0.2.2:$A" --budget-cpu 0
  answers_within 60 fleetprof status --state $B
  # Tables are made once for a build-id: how long that takes beside two busy threads, then the others'.
  sampler=perf lap=-first
  read -r before _ </proc/uptime
  sampled chain /v/$variant/bin/chain 20 &
  until are_ready || [ "$(tables failed)" != 0 ]; do sleep 1; done
  read -r after _ </proc/uptime
  wait
  programs 0.1
  answers_within 120 are_ready
  say tables-$variant "of chain, its loader and libc within $((${after%.*} - ${before%.*})) s beside it; $(tables ready) ready, $(tables failed) failed"
  for sampler in perf timer; do
    lap=
    programs $LONG
  done
  daemon=$(cat $B/fleetprofd.pid)
  kill $daemon
  while kill -0 $daemon 2>/dev/null; do sleep 1; done
done
await names
T
  board_awaits names 2900 || { board_end; fail "the board has not done its work"; }
  for variant in $variants; do
    for sampler in perf timer; do
      for program in chain lua xz; do
        [ "$variant $program" != ".debug_frame xz" ] || continue
        answered=$W/$1.$variant.$program.$sampler
        profile "{board=\"$1\",service=\"$variant-$program-$sampler\"}" >"$answered.json" &&
          profile "{board=\"$1\",service=\"$variant-$program-$sampler\"}" -d format=folded >"$answered.folded" || fail "no answer for $answered"
      done
    done
  done
  until_true 30 books_are_closed "$1" || fail "the books do not close: $(api loss)"
  for variant in $variants; do say "$1, $variant: tables $(told "tables-$variant")"; done
  kernels+="$(told kernel); "
  board_goes_on
  board_end || fail "the board did not end well"
}

SINCE=90m kernels=
start_collector
symbols=$(fleetprof-collector token --data "$W/data" --role symbols) || fail "no token"
for port in "${@:-armhf arm64}"; do
  for one in $port; do one_board "$one"; done
done
[ -z "${BENCH_ANSWERS:-}" ] || { mkdir -p "$BENCH_ANSWERS" && cp "$W"/arm*.{json,folded} "$BENCH_ANSWERS"; }
/usr/bin/python3 "$boards_source/tests/bench/unwind_on_boards.py" "$W" || fail "no table"
say "$(date '+%-d %B %Y'), $hz Hz, $seconds s of the board's time a program, $kernels$("$QEMU" --version | head -n 1)"
