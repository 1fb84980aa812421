#!/bin/bash
# netns.sh: a command on a network of its own: a bridge, at which the command sits, and nodes, each with a network
# namespace and an address. Nothing of it reaches the machine's network, and nothing is left. Root is not needed
# where user namespaces are allowed.
#
#   scripts/netns.sh [--loss PERCENT] [--no-dial FROM:TO[:reject]]... N CMD...
#
# CMD finds in its environment
#   HOSTS   the addresses of the N nodes, with commas: for goulfm run --host
#   RSH     a command that runs another in the namespace of a node, in the manner of ssh: for --rsh
#   HERE    its own address: for --iface
#   LINK    a command: LINK down ADDRESS, LINK up ADDRESS cuts a node off, or joins it again
# --loss drops so many of 100 packets, at random, wherever they arrive (nft of package nftables). --no-dial
# keeps node FROM, counted from 0, from opening TCP connections to node TO, as a firewall of TO does: attempts get no
# answer, or with reject are refused. Connections that TO opens are not concerned. Code 77: it cannot be done here, and why.
set -euo pipefail
skip() { echo "netns: skipped: $*" >&2; exit 77; }

if [ -z "${NETNS_INSIDE:-}" ]; then
  [ "$(uname -s)" = Linux ] || skip "needs Linux"
  for tool in unshare nsenter ip; do command -v $tool >/dev/null || skip "$tool is not installed (util-linux, iproute2)"; done
  new=(unshare --user --map-root-user --net --pid --fork --kill-child=KILL --mount-proc)
  "${new[@]}" true 2>/dev/null || skip "the kernel allows no user, process and network namespaces here"
  dir=$(mktemp -d)
  NETNS_INSIDE=$dir "${new[@]}" "$0" "$@" <&0 &
  inner=$! # with it ends all that runs in its process namespace
  trap 'kill -KILL $inner 2>/dev/null || true; rm -rf "$dir"' EXIT
  trap 'exit 143' INT TERM HUP
  wait $inner && code=0 || code=$?
  exit $code
fi

loss=0
nodial=()
while :; do
  case ${1:-} in
    --loss) loss=$2 ;;
    --no-dial) nodial+=("$2") ;;
    *) break ;;
  esac
  shift 2
done
n=${1:?usage: scripts/netns.sh [--loss PERCENT] [--no-dial FROM:TO[:reject]]... N CMD...}; shift
[[ $n =~ ^[0-9]+$ ]] && ((n >= 1 && n <= 200)) || { echo "netns: $n nodes: want 1 to 200" >&2; exit 2; }
[ $# -gt 0 ] || { echo "netns: no command" >&2; exit 2; }
((loss == 0 && ${#nodial[@]} == 0)) || command -v nft >/dev/null || skip "nft is not installed (nftables)"

dir=$NETNS_INSIDE
unset NETNS_INSIDE
keepers=()

# lose drops packets that arrive in the namespace in which it runs.
lose() {
  ((loss == 0)) || nft "table inet loss { chain arriving { type filter hook input priority 0; iifname != \"lo\" numgen random mod 100 < $loss drop; }; }"
}

# shut keeps the node of an address from opening connections to the namespace in which it runs.
shut() {
  nft "table inet shut { chain arriving { type filter hook input priority 1; }; }; \
    add rule inet shut arriving ip saddr $1 tcp flags & (syn | ack) == syn $2"
}

ip link set lo up
ip link add bridge type bridge
ip addr add 10.77.0.1/16 dev bridge
ip link set bridge up
lose
export HERE=10.77.0.1 HOSTS='' RSH=$dir/rsh LINK=$dir/link
for ((i = 0; i < n; i++)); do
  address=10.77.1.$((i + 1))
  mkfifo "$dir/ready"
  unshare --net sh -c "echo >'$dir/ready'; exec sleep infinity" </dev/null >/dev/null 2>&1 & # holds the namespace
  keepers+=($!)
  read -r <"$dir/ready"; rm "$dir/ready"
  ip link add "v$i" type veth peer name eth0 netns "${keepers[i]}"
  ip link set "v$i" master bridge up
  inside() { nsenter --net --target "${keepers[i]}" "$@"; }
  inside ip link set lo up
  inside ip addr add "$address/16" dev eth0
  inside ip link set eth0 up
  nsenter --net --target "${keepers[i]}" bash -c "$(declare -f lose); loss=$loss; lose"
  for rule in "${nodial[@]}"; do
    IFS=: read -r from to how <<<"$rule"
    [ "$to" != "$i" ] || nsenter --net --target "${keepers[i]}" bash -c "$(declare -f shut); shut 10.77.1.$((from + 1)) '$([ "$how" = reject ] && echo "reject with tcp reset" || echo drop)'"
  done
  echo "$address ${keepers[i]} v$i" >>"$dir/nodes"
  HOSTS+=${HOSTS:+,}$address
done
cat >"$RSH" <<END
#!/bin/sh
host=\$1; shift
pid=\$(awk -v h="\$host" '\$1 == h { print \$2 }' $dir/nodes)
[ -n "\$pid" ] || { echo "no node has the address \$host" >&2; exit 255; }
exec nsenter --net --target "\$pid" sh -c "\$*"
END
cat >"$LINK" <<END
#!/bin/sh
exec ip link set "\$(awk -v h="\$2" '\$1 == h { print \$3 }' $dir/nodes)" "\$1"
END
chmod 755 "$RSH" "$LINK"
code=0
"$@" || code=$?
exit $code
