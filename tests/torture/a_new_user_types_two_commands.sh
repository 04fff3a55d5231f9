#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From `git clone` to a flame graph of a program of his own with the names of its functions: a new user of a Debian 12 that
# holds its base, git and sudo, at a home of his own, within five minutes and two commands.
# Takes packages from where this machine has its own.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || not_run "only root can make a system to start in"
command -v debootstrap >/dev/null || not_run "debootstrap is not installed"
source=$(cd "$(dirname "$0")/../.." && pwd)
root=$W/debian
mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
debootstrap --variant=minbase --include=git,sudo bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$W/debootstrap.log" 2>&1 ||
  not_run "no Debian can be fetched: $(tail -n 1 "$W/debootstrap.log")"
rm -f "$root/etc/apt/sources.list"
for folder in etc/apt/sources.list.d etc/apt/apt.conf.d etc/apt/auth.conf.d usr/share/keyrings etc/ssl/certs usr/share/ca-certificates usr/local/share/ca-certificates; do
  [ ! -d "/$folder" ] || { mkdir -p "$root/$folder" && cp -r "/$folder/." "$root/$folder/"; }
done
for file in etc/apt/sources.list etc/resolv.conf etc/hosts; do [ ! -f "/$file" ] || cp -L "/$file" "$root/$file"; done
mount -t proc proc "$root/proc" && mount -t sysfs sys "$root/sys" && mount -t tmpfs -o mode=755 tmpfs "$root/dev" &&
  mkdir "$root/dev/pts" && mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts" ||
  not_run "nothing can be mounted into a system of its own"
for device in null zero full random urandom tty; do touch "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"; done
ln -s pts/ptmx "$root/dev/ptmx"; ln -s /proc/self/fd "$root/dev/fd"
chroot "$root" useradd -m newcomer
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/newcomer"
home=$root/home/newcomer
[ ! -f ~/.npmrc ] || cp ~/.npmrc "$home/"
git clone -q "$source" "$root/srv/fleetprof" 2>"$W/clone.log" || not_run "this is no clone of a repository: $(tail -n 1 "$W/clone.log")"
mkdir -m 700 "$home/work"
cat >"$W/mine.c" <<'ENDC'
#include <time.h>
__attribute__((noinline)) unsigned crunch_numbers(unsigned n) {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) sum += i * i;
  return sum;
}
__attribute__((noinline)) unsigned serve_request(unsigned n) { return crunch_numbers(n) + 1; }
int main(void) {
  while (clock() < 3 * CLOCKS_PER_SEC) serve_request(100000);
}
ENDC
gcc -g -O1 -o "$home/work/mine" "$W/mine.c" || fail "no program to profile"
chroot "$root" chown -R newcomer /home/newcomer /srv/fleetprof
typed=0
type_command() { # type_command COMMAND: as a user does, in his folder; the output is in "$W/seen"
  typed=$((typed + 1))
  say "\$ $1"
  chroot "$root" setpriv --reuid newcomer --regid newcomer --init-groups env -u XDG_RUNTIME_DIR -u TMPDIR HOME=/home/newcomer USER=newcomer \
    PATH=/usr/local/bin:/usr/bin:/bin script -qec "cd ~/work && { $1; }" /dev/null </dev/null >"$W/seen" 2>&1
}
has_names() { for name in main serve_request crunch_numbers; do grep -qE "%.* $name( |\$)" "$1" || return 1; done; }
began=$SECONDS
type_command 'git clone -q /srv/fleetprof' || fail "git clone: $(tail -n 3 "$W/seen")"
type_command 'fleetprof/deploy/quickstart.sh --once -- ./mine' || fail "the quickstart ends with $?: $(tail -n 15 "$W/seen")"
took=$((SECONDS - began))
has_names "$W/seen" || fail "no flame graph with names: $(tail -n 40 "$W/seen")"
say "$typed commands, $took s"
[ $took -lt 300 ] || fail "it took $took s"
