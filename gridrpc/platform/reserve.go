package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// reserve finds free addresses for n peers of a group, on their machines, and writes them into
// the folder: each peer has to know the addresses of all peers before any of them runs. The ports
// are those of the former platform, where they are free, because members of other machines know
// them. If another process takes a port meanwhile, the peer reports that and ends.
func (p *platform) reserve(ctx context.Context, group, prefix string, n int) ([]discovery.Peer, error) {
	before, _ := discovery.Peers(p.dir, group) // an unreadable list is made anew
	list := make([]discovery.Peer, n)
	for i := range list {
		list[i] = discovery.Peer{Name: fmt.Sprintf("%s%d", prefix, i+1), Host: p.hosts.of(i)}
	}
	machines := max(1, len(p.hosts.names))
	for m := range min(machines, n) { // one request: two could return the same address
		var here []int
		var ports []string
		for i := m; i < n; i += machines {
			here = append(here, i)
			var was discovery.Peer
			if k := slices.IndexFunc(before, func(p discovery.Peer) bool { return p.Name == list[i].Name }); k >= 0 {
				was = before[k]
			}
			ports = append(ports, portOf(was.Addr), portOf(was.Route))
		}
		addrs, err := p.freeAt(ctx, p.hosts.remote(m), ports)
		if err != nil {
			return nil, err
		}
		for k, i := range here {
			list[i].Addr, list[i].Route = addrs[2*k], addrs[2*k+1]
		}
	}
	return list, discovery.SavePeers(p.dir, group, list)
}

// freeAt returns free addresses of a machine, as FreeAddresses does.
func (p *platform) freeAt(ctx context.Context, at remote, ports []string) ([]string, error) {
	if at.host == "" {
		return FreeAddresses(ports)
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	command, words := at.command([]string{discovery.EnvListen + "=" + at.host}, p.command, slices.Concat([]string{"free"}, ports))
	cmd := exec.CommandContext(ctx, command, words...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var addrs []string
	if err == nil {
		addrs, err = readAddresses(string(out), len(ports))
	}
	if err != nil {
		return nil, fmt.Errorf("--hosts: %s: %w: is this command, %s, there, and does --rsh run it?", at.host, err, p.command)
	}
	return addrs, nil
}

// readAddresses reads the output of "gridrpc free". A shell may have printed other lines before.
func readAddresses(text string, n int) (addrs []string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if _, err := netip.ParseAddrPort(line); err == nil {
			addrs = append(addrs, line)
		}
	}
	if len(addrs) != n {
		return nil, fmt.Errorf("%d of %d addresses", len(addrs), n)
	}
	return addrs, nil
}

// FreeAddresses returns addresses of this machine at which no process listens, each with the given
// port if that port is free. Port "0" is any port.
func FreeAddresses(ports []string) ([]string, error) {
	host, _, err := net.SplitHostPort(discovery.ListenAt())
	addrs := make([]string, len(ports))
	var open []net.Listener // until the end: no address is found twice
	defer func() {
		for _, l := range open {
			link.HangUp(l)
		}
	}()
	listen := func(i int, port string) error {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			return err
		}
		open, addrs[i] = append(open, l), l.Addr().String()
		return nil
	}
	for i, port := range ports {
		if port != "0" {
			_ = listen(i, port) // else another port
		}
	}
	for i := range ports {
		if addrs[i] == "" {
			err = errors.Join(err, listen(i, "0"))
		}
	}
	return addrs, err
}
