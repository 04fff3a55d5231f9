# SPDX-License-Identifier: Apache-2.0
# Sourced by tests that need a network with faults: puts the script into its own network namespace,
# the collector's, and makes the others beside it. The namespaces end with their processes. Root may
# do this directly, an ordinary user in a user namespace where that is allowed.
#
#     board               air              router                         collector (the script)
#     b0 10.9.1.2 ---- w0 wire w1 ---- r0 10.9.1.1   r1 10.9.2.1 ---- c0 10.9.2.2
#
#   on_board, on_router COMMAND...   runs it there (in the background: nsenter itself, whose pid is the command's)
#   line loss=PERCENT delay=MS rate=BYTES   sets the line between board and router from now on (netem if
#                       the kernel has it, else wire.c); `clear_line` resets it
#   rebind              the router changes its address and loses its NAT table
if [[ ${TORTURE_HALF:-} == user* && -z ${FLEETPROF_AS_USER:-} && $(id -u) = 0 ]]; then
  . "$(dirname "${BASH_SOURCE[0]}")/../e2e/ordinary_user.sh"
  again_as_ordinary "$@"
  exit
fi
if [ -z "${FLEETPROF_NETNS:-}" ]; then
  how=-n
  [ "$(id -u)" = 0 ] || how=-Urn
  unshare $how true 2>/dev/null || { echo "not run: this user may not make network namespaces here"; exit 77; }
  command -v ip >/dev/null || { echo "not run: iproute2 is not installed"; exit 77; }
  FLEETPROF_NETNS=1 exec unshare $how "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
wire=${FLEETPROF_TARGETS%/targets}/netns/wire
proxy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/proxy.py

is_apart() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
new_namespace() { # sets NAMESPACE, the pid of its holder
  unshare -n sleep infinity &
  NAMESPACE=$!
  started+=($NAMESPACE)
  until_true 5 is_apart $NAMESPACE || fail "no network namespace"
  nsenter -t $NAMESPACE -n ip link set lo up
}
on_board() { nsenter -t "$BOARD" -n "$@"; }
on_router() { nsenter -t "$ROUTER" -n "$@"; }
on_air() { nsenter -t "$AIR" -n "$@"; }
pair() { ip link add "$1" netns "$2" type veth peer name "$3" netns "$4" || fail "no veth"; } # pair IF PID IF PID

has_netem=
make_network() {
  ip link set lo up
  new_namespace && BOARD=$NAMESPACE
  new_namespace && AIR=$NAMESPACE
  new_namespace && ROUTER=$NAMESPACE
  pair b0 "$BOARD" w0 "$AIR"
  pair w1 "$AIR" r0 "$ROUTER"
  pair r1 "$ROUTER" c0 $$
  on_board ip addr add 10.9.1.2/24 dev b0
  on_router ip addr add 10.9.1.1/24 dev r0
  on_router ip addr add 10.9.2.1/24 dev r1
  ip addr add 10.9.2.2/24 dev c0
  on_board ip link set b0 up && on_air ip link set w0 up && on_air ip link set w1 up
  on_router ip link set r0 up && on_router ip link set r1 up && ip link set c0 up
  on_board ip route add default via 10.9.1.1
  on_router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' || fail "the router does not forward"
  on_board "$wire" --plain b0 && on_router "$wire" --plain r0 || fail "offloads stay on"
  mkfifo "$W/wire"
  exec 7<>"$W/wire"
  nsenter -t "$AIR" -n "$wire" w0 w1 <"$W/wire" 7>&- &
  started+=($!)
  tc qdisc add dev lo root netem delay 1ms 2>/dev/null && has_netem=1 && tc qdisc del dev lo root
  make_nat
}
# Without nftables, or where the kernel has no NAT, boards are seen by their own address.
has_nat=1
make_nat() {
  on_router nft -f - 2>"$W/nft.log" <<'N' && return
table ip nat {
  chain out {
    type nat hook postrouting priority srcnat
    oifname "r1" masquerade
  }
}
N
  has_nat=
  ip route add 10.9.1.0/24 via 10.9.2.1
}
outside=10.9.2.1
rebind() {
  local next=10.9.2.3
  [ $outside = $next ] && next=10.9.2.1
  on_router ip addr del $outside/24 dev r1 && on_router ip addr add $next/24 dev r1 || fail "no other address"
  outside=$next
}
line() {
  local word loss=0 delay=0 rate=0
  for word; do local "${word?}"; done
  if [ -z "$has_netem" ]; then
    echo "loss=$loss delay=$delay rate=$rate" >&7
    return
  fi
  local netem=(netem limit 1024 loss "$loss%" delay "${delay}ms")
  [ "$rate" = 0 ] || netem+=(rate "$((rate * 8))bit")
  on_board tc qdisc replace dev b0 root "${netem[@]}" && on_router tc qdisc replace dev r0 root "${netem[@]}" || fail "netem"
}
clear_line() { line; }
mtu() { on_router ip route replace 10.9.1.0/24 dev r0 mtu "$1" && on_router ip route replace 10.9.2.0/24 dev r1 mtu "$1"; }
