#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 79: without /proc, with a read-only root, without any tmpfs, with hidepid=2: inert or at work, and
# never a word on the program's stderr.
. "$(dirname "$0")/lib.sh"
unshare -m true 2>/dev/null || not_run "no mount namespace of its own (root is needed)"
HZ=997
ms=$(pick 15 2000)
board poor
program="$torture/fp_lies $ms"
inside() { same unshare -m sh -c "$1 && exec $program"; }
inside "mount -t tmpfs none /proc"
say "no /proc"
inside "mount -o bind / / && mount -o remount,ro,bind /"
say "read-only root"
inside "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /run && mount -t tmpfs -o ro none /var/tmp"
say "no tmpfs that could be written"
user_board user
$program >"$W/plain.out" || fail "without us: ended with $?"
for how in "mount -t proc -o hidepid=2 none /proc" "mount -t proc -o hidepid=invisible none /proc"; do
  unshare -m -p -f sh -c "$how" 2>/dev/null || { without "$how" "the kernel refuses it"; continue; }
  for sampler in "${samplers[@]}"; do
    unshare -m sh -c "$how && exec setpriv --reuid=$ordinary --regid=$ordinary --clear-groups env HOME=$W/user fleetprof run --state $B --flush-timeout 0s --sampler $sampler --hz $HZ -- $program" >"$W/run.out" 2>"$W/run.err" \
      || fail "$sampler: $how: ended with $?: $(cat "$W/run.err")"
    cmp -s "$W/plain.out" "$W/run.out" || fail "$sampler: $how: stdout differs: $(diff "$W/plain.out" "$W/run.out" | head -n 5)"
    [ ! -s "$W/run.err" ] || fail "$sampler: $how: stderr: $(cat "$W/run.err")"
  done
  say "$how"
done
[ -e /sys/kernel/security/lockdown ] || without lockdown "this kernel has no lockdown"
[ -e /sys/fs/selinux/enforce ] || without SELinux "this kernel has no SELinux"
