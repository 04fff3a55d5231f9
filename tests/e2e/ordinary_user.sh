# SPDX-License-Identifier: Apache-2.0
# Sourced by lib.sh, and before it by tests for ordinary users: an ordinary user of this run's own.
# A simultaneous run shares with it neither the user's limit of locked memory, nor that of signals,
# nor a default folder.
if [ "$(id -u)" != 0 ]; then
  ordinary=$(id -u)
  as_ordinary() { "$@"; }
else
  ordinary=$((2000000000 + $$)) # an id that is never assigned
  setpriv --reuid=$ordinary true 2>/dev/null || ordinary=65534 # a container maps fewer
  as_ordinary() { setpriv --reuid="$ordinary" --regid="$ordinary" --clear-groups "$@"; }
fi

# again_as_ordinary [ARGUMENT]...: runs the script once more as that user, with a home of its own.
again_as_ordinary() {
  local home code
  home=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-home.XXXXXX")
  chown "$ordinary:$ordinary" "$home"
  FLEETPROF_AS_USER=$ordinary as_ordinary env HOME="$home" TMPDIR="$home" "$0" "$@"
  code=$?
  rm -rf "$home"
  return $code
}
