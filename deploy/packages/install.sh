# SPDX-License-Identifier: Apache-2.0
# Sourced: install_packages LIST... installs missing packages of deploy/packages/LIST.txt, as root
# or through sudo, and asks for nothing if none is missing. The list "build" includes node.txt only
# if Node 18 or newer, or npm, is missing: other installations of them are kept. With has_page=
# (empty) it does without node.txt.
. deploy/packages/progress.sh
has_node() {
  command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null
}
# apt-get, as root by the caller's as_root=(). Its progress reports use a descriptor of their own,
# which sudo would have closed: the scripts of packages write to its standard output and fail if apt
# keeps that to itself.
with_apt() {
  "${as_root[@]}" sh -c 'exec apt-get "$@" 3>&1 >/dev/null' apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Status-Fd=3 "$@" | show_progress
  return "${PIPESTATUS[0]}"
}
install_packages() {
  local lists=() missing=() package list
  for list in "$@"; do
    lists+=("deploy/packages/$list.txt")
    [ "$list" != build ] || [ -z "${has_page-yes}" ] || has_node || lists+=(deploy/packages/node.txt)
  done
  while read -r package; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done < <(grep -hv '^#' "${lists[@]}" | sort -u)
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "${0##*/}: packages are missing; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
      return 1
    }
    as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
  fi
  echo "installing ${#missing[@]} packages: ${missing[*]}"
  with_apt install -y --no-install-recommends "${missing[@]}" 2>/dev/null && return 0
  with_apt update
  with_apt install -y --no-install-recommends "${missing[@]}"
}
