#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 63: samples in the vDSO, the signal trampoline, PLT stubs, IFUNC choices, thread-local storage: named
# for what they are or module+offset, never for a wrong function.
. "$(dirname "$0")/lib.sh"
start_collector
enroll corners
ms=$(pick 250 10000)
for sampler in perf timer; do
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --service "corners-$sampler" --sampler $sampler --hz 499 -- "$torture/corners" "$ms" >/dev/null \
    || fail "$sampler: ended with $?"
done
names='^(in_(vdso|trampoline|plt|ifunc|local)|on_usr|main|ms_now|_start|__libc_start.*|(__)?(vdso_)?clock_gettime.*|\[vdso\].*|linux-vdso.*|__restore_rt|(__|__GI_)?raise|(__|__GI_)?(pthread_kill|gettid|getpid|tgkill).*|.*pthread_kill.*|.*mem(cpy|move).*|.*strlen.*|labs|(__)?getauxval.*|.*@plt|corners\+0x.*|libc\.so\.6\+0x.*|_dl_.*|do_lookup_x|\[kernel\].*|\[unsampled\]|ld-linux.*)$'
for sampler in perf timer; do
  is_named() { profile "{service=\"corners-$sampler\"}" >"$W/profile" && [ "$(json "sum('+0x' in f['name'] and f['module'].endswith('corners') for f in d['functions'])" <"$W/profile")" -le 3 ]; }
  until_true 10 is_named
  wrong=$(json "'\n'.join(f['name'] for f in d['functions'] if f['self'] / d['total'] > .005)" <"$W/profile" | grep -vE "$names")
  [ -z "$wrong" ] || fail "$sampler: who is this: $wrong"
  for part in in_vdso:'vdso|clock_gettime' in_ifunc:'in_ifunc|mem(cpy|move)|strlen' in_plt:'in_plt|labs|getauxval|@plt' in_local:in_local; do
    share=$(json "'%.3f' % sum(f['self'] / d['total'] for f in d['functions'] if __import__('re').search(r'${part#*:}', f['name'] + ' ' + str(f['module'])))" <"$W/profile")
    say "$sampler: ${part%%:*}: $share"
    /usr/bin/python3 -c "import sys; sys.exit(not .08 < $share < .5)" || fail "$sampler: ${part%%:*} has a share of $share: $(json "'\n'.join('%.3f %s %s' % (f['self'] / d['total'], f['name'], f['module']) for f in d['functions'][:25])" <"$W/profile")"
  done
done
