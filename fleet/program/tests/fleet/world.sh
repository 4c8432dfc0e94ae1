#!/bin/sh
# A world of its own, started in new mount, network and process namespaces: boards that are network namespaces with
# an sshd each, and a controller that reaches them by a link each. Its end ends everything in it.
#
#   sh world.sh DIRECTORY COUNT SSHD
set -eu
world=$1 count=$2 sshd=$3

mount -t tmpfs none /run
mkdir -p /run/netns /run/sshd
mount --bind "$world/passwd" /etc/passwd
ip link set lo up
number=1
while [ "$number" -le "$count" ]; do
    board=board$number
    ip netns add "$board"
    ip link add "up$number" type veth peer name eth0 netns "$board"
    ip addr add "10.77.$number.1/30" dev "up$number"
    ip link set "up$number" up
    ip -n "$board" addr add "10.77.$number.2/30" dev eth0
    ip -n "$board" link set eth0 up
    ip -n "$board" link set lo up
    ip netns exec "$board" sh "$world/$board.sh" "$sshd" 2>"$world/$board.log" &
    number=$((number + 1))
done
echo ready
# Whoever made this world holds the other end.
cat >/dev/null
