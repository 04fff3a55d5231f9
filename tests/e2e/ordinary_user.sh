# SPDX-License-Identifier: Apache-2.0
# Sourced before lib.sh by a promise to ordinary users, and by both_users.sh: as_nobody runs the script
# as uid 65534, with a home of its own.
as_nobody() {
  local home code
  home=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-home.XXXXXX")
  chown 65534:65534 "$home"
  FLEETPROF_AS_USER=65534 setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$home" TMPDIR="$home" "$0"
  code=$?
  rm -rf "$home"
  return $code
}
