#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks one Debian package of a foreign port into a folder. It uses the package lists of this
# machine's sources and a private apt state: nothing is installed and the system's lists do not
# change. For a package that only depends on another (linux-image-arm64), the other is unpacked.
#
#   fetch.sh PORT PACKAGE FOLDER     (PORT: Debian's name of it; lists are kept for a day)
#   fetch.sh source PACKAGE FOLDER   the upstream source of the source package PACKAGE, unpatched
set -euo pipefail
port=$1 package=$2 folder=$3
cache=${FLEETPROF_BOARDS:-${XDG_CACHE_HOME:-$HOME/.cache}/fleetprof/boards}
apt=$cache/apt-$port
mkdir -p "$apt"/{lists/partial,archives/partial,sources.list.d} "${folder%/*}"
touch "$apt/status"
exec 9>"$apt/lock" && flock -w 900 9 || { echo "fetch.sh: $apt is in use for 15 minutes" >&2; exit 1; }
[ ! -d "$folder" ] || exit 0 # another process made it

# Debian's own sources, for other sources have no other ports.
: >"$apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian*; do
  [ -f "$file" ] || continue
  case $file in
  *.sources) cp "$file" "$apt/sources.list.d/" ;;
  *) grep -h debian "$file" >>"$apt/sources.list" || true ;;
  esac
done
architecture=$port
if [ "$port" = source ]; then
  architecture=$(dpkg --print-architecture)
  find "$apt/sources.list.d" -type f -exec sed -i 's/^Types:.*/Types: deb-src/' {} +
  sed -i 's/^deb /deb-src /' "$apt/sources.list"
fi
options=(-qq -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "Dir::State=$apt" -o "Dir::State::status=$apt/status"
  -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o "Dir::Etc::sourcelist=$apt/sources.list"
  -o "Dir::Etc::sourceparts=$apt/sources.list.d" -o APT::Sandbox::User=root -o Acquire::Languages=none)
[ -n "$(find "$apt/updated" -mmin -1440 2>/dev/null)" ] || { apt-get "${options[@]}" update && touch "$apt/updated"; }
depends() { apt-cache "${options[@]}" show --no-all-versions "$1" | sed -n 's/^Depends: //p' | tr ',' '\n' | sed 's/^ *//; s/ .*//'; }
case $package in
linux-image-*) package=$(depends "$package" | grep '^linux-image-') ;;
esac
part=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$part"' EXIT
chmod 755 "$part"
(
  cd "$part"
  if [ "$port" = source ]; then
    apt-get "${options[@]}" --download-only source "$package"
    tar --strip-components=1 -xf ./*.orig.tar.*
    rm ./*.tar.* ./*.dsc
  else
    apt-get "${options[@]}" download "$package:$port"
    dpkg-deb -x ./*.deb .
    rm ./*.deb
  fi
)
mv "$part" "$folder"
