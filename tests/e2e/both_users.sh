# SPDX-License-Identifier: Apache-2.0
# Sourced before lib.sh by a promise that holds for every user: root runs the script as uid 65534
# first, with a home of its own, then as itself.
if [ "$(id -u)" = 0 ] && [ -z "${FLEETPROF_AS_USER:-}" ]; then
  home=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-home.XXXXXX")
  chown 65534:65534 "$home"
  FLEETPROF_AS_USER=65534 setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$home" TMPDIR="$home" "$0"
  code=$?
  rm -rf "$home"
  [ $code = 0 ] || exit $code
fi
echo "as uid $(id -u)"
