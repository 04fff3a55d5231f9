#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 39: chroot into an empty folder, setuid, no capabilities: after the agent's start, and before it.
# The program prints nothing extra and is listed: each run has its record in status, with the reason
# if no agent could start.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || not_run "only root can drop root"
HZ=997
ms=$(pick 150 10000)
mkdir "$W/empty"
board drops
SAMPLES=20 same "$torture/drops" "$W/empty" $ordinary "$ms"
SAMPLES=20 same "$torture/drops" "$W/empty" $ordinary "$ms" hidden
# Before: the program starts as user nobody, who may not open the daemon's folder, and without
# capabilities.
chmod 700 "$B"
same setpriv --reuid=$ordinary --regid=$ordinary --clear-groups --bounding-set=-all --no-new-privs "$torture/drops" / $ordinary "$ms"
# Before: in a root that has the program and its libraries, but no /proc and no socket.
root=$W/root
mkdir -p "$root/bin" && cp "$torture/drops" "$root/bin/"
for library in $(ldd "$torture/drops" | grep -o '/[^ ]*'); do
  mkdir -p "$root/${library%/*}" && cp -L "$library" "$root/$library"
done
mkdir -p "$root/${agent%/*}" && cp -a "${agent%/*}/." "$root/${agent%/*}/"
SAMPLES=0 same chroot "$root" /bin/drops / $ordinary "$ms"
listed() { asked "sum($1 for n in d['notes'])"; }
[ "$(listed "n['service'] in ('drops', 'setpriv', 'chroot')")" = $((4 * ${#samplers[@]})) ] || fail "$((4 * ${#samplers[@]})) runs, and listed are $(asked "d['notes']")"
say "$(asked "[(n['service'], n['sampler'], n['why']) for n in d['notes']]")"
