# SPDX-License-Identifier: Apache-2.0
# Sourced: show_progress reads the output of apt (for APT::Status-Fd) or of a build by cmake, and
# shows the progress: one line that changes on a terminal, and elsewhere a line each fifth. It drops
# all other input.
show_progress() {
  local line what percent before= told=0 is_terminal=
  [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && is_terminal=1
  while IFS= read -r line; do
    if [[ $line =~ ^(dl|pm)status:[^:]*(:[a-z0-9-]+)?:([0-9]+)(\.[0-9]+)?: ]]; then
      what=fetched percent=${BASH_REMATCH[3]}
      [ "${BASH_REMATCH[1]}" = dl ] || what=installed
    elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
      what=built percent=${BASH_REMATCH[1]}
    elif [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] && [ "${BASH_REMATCH[2]}" -gt 0 ]; then # ninja
      what=built percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    else
      continue
    fi
    [ "$what" = "$before" ] || told=0
    if [ -n "$is_terminal" ]; then
      printf '\r  %s %d %%\033[K' "$what" "$percent"
    elif [ $((percent / 20)) -gt "$told" ]; then
      told=$((percent / 20))
      echo "  $what $percent %"
    fi
    before=$what
  done
  [ -z "$is_terminal" ] || [ -z "$before" ] || printf '\r\033[K'
}
