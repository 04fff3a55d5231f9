#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 1: threads in malloc, dlopen, dl_iterate_phdr, exceptions and unwinding, at the highest rate, with
# glibc and with musl: every thread makes progress. In the long form ten minutes of each sampler.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
seconds=$(pick 1 200)
board frenzy
library=$(ldconfig -p | awk '/libz\.so\.1 .*x86-64|libz\.so\.1 .*AArch64/ { print $NF; exit }')
[ -n "$library" ] || library=libm.so.6
SAMPLES=5 outlasts "$torture/frenzy" "$seconds" "$library"
if compile "$W/throws" g++ -O2 -pthread "$torture_sources/throws.cc"; then
  SAMPLES=5 outlasts "$W/throws" "$seconds"
fi
printf 'int torture_library(void) { return 1; }\n' >"$W/library.c"
if compile "$W/library.so" musl-gcc -shared -fPIC "$W/library.c" &&
  compile "$W/frenzy_musl" musl-gcc -D_GNU_SOURCE -O2 "$torture_sources/frenzy.c"; then
  SAMPLES=5 outlasts "$W/frenzy_musl" "$seconds" "$W/library.so"
fi
books_are_exact || fail "the books: $(asked "d['loss']")"
