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
# borne WHO NAME MOUNTS: as the user WHO, the owner of board B.
borne() {
  local who=$1 name=$2 mounts=$3 sampler
  for sampler in "${samplers[@]}"; do
    unshare -m sh -c "$mounts && exec setpriv --reuid=$who --regid=$who --clear-groups env HOME=$W/user \
      fleetprof run --state $B --flush-timeout 0s --sampler $sampler --hz $HZ -- $program" >"$W/run.out" 2>"$W/run.err" </dev/null \
      || fail "uid $who: $sampler: $name: ended with $?: $(cat "$W/run.err")"
    cmp -s "$W/plain.out" "$W/run.out" || fail "uid $who: $sampler: $name: stdout differs: $(diff "$W/plain.out" "$W/run.out" | head -n 5)"
    [ ! -s "$W/run.err" ] || fail "uid $who: $sampler: $name: stderr: $(cat "$W/run.err")"
  done
  say "uid $who: $name"
}
$program >"$W/plain.out" 2>/dev/null || fail "without us: ended with $?"
surroundings() {
  borne "$1" "no /proc" "mount -t tmpfs none /proc"
  borne "$1" "read-only root" "mount -o bind / / && mount -o remount,ro,bind /"
  borne "$1" "no tmpfs that can be written" "mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /run && mount -t tmpfs -o ro none /var/tmp"
  for how in "mount -t proc -o hidepid=2 none /proc" "mount -t proc -o hidepid=invisible none /proc"; do
    unshare -m -p -f sh -c "$how" 2>/dev/null || { without "$how" "the kernel refuses it"; continue; }
    borne "$1" "$how" "$how"
  done
}
surroundings 0
user_board user
surroundings "$ordinary"
# Neither can be switched on for a test and off again: where they are in force all of the above was under them.
lockdown=/sys/kernel/security/lockdown
if [ ! -e $lockdown ]; then
  without lockdown "this kernel has none, or its file system is not mounted"
elif grep -q '\[none\]' $lockdown; then
  without lockdown "it is not in force here ($(cat $lockdown)), and nothing but a boot takes it back"
else
  say "all of it under lockdown: $(cat $lockdown)"
fi
case $(cat /sys/fs/selinux/enforce 2>/dev/null) in
1) say "all of it under SELinux, enforcing" ;;
0) without SELinux "it is permissive here, and to change that is not a test's business" ;;
*) without SELinux "this kernel has none, or its file system is not mounted" ;;
esac
