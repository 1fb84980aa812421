package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// reserve finds addresses at which nobody listens, on the machines of n peers of a group, which
// have to know each other's before any of them is there, and tells them in the folder. The ports
// are those of the platform before, where they are free: who has joined knows them. Should another
// process take one meanwhile, who wants it says so and ends.
func (p *platform) reserve(ctx context.Context, group, prefix string, n int) ([]discovery.Peer, error) {
	before, _ := discovery.Peers(p.dir, group) // what cannot be read is made anew
	list := make([]discovery.Peer, n)
	for i := range list {
		list[i] = discovery.Peer{Name: fmt.Sprintf("%s%d", prefix, i+1), Host: p.hosts.of(i)}
	}
	machines := max(1, len(p.hosts.names))
	for m := range min(machines, n) { // each is asked once: what is free twice may be the same
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

// freeAt returns addresses of a machine at which nobody listens, as freeAddresses does.
func (p *platform) freeAt(ctx context.Context, at remote, ports []string) ([]string, error) {
	if at.host == "" {
		return freeAddresses(ports)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	command, words := at.command([]string{discovery.EnvListen + "=" + at.host}, self, slices.Concat([]string{"free"}, ports))
	cmd := exec.CommandContext(ctx, command, words...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var addrs []string
	if err == nil {
		addrs, err = readAddresses(string(out), len(ports))
	}
	if err != nil {
		return nil, fmt.Errorf("--hosts: %s: %w: is this command, %s, there, and does --rsh run it?", at.host, err, self)
	}
	return addrs, nil
}

// readAddresses reads what freeProcess has printed. A shell may have said something else before.
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

// freeProcess prints addresses of its machine at which nobody listens: "up" runs it there.
func freeProcess(_ context.Context, ports []string) error {
	for _, port := range ports {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return mistake{"free", port + ": want a port"}
		}
	}
	addrs, err := freeAddresses(ports)
	for _, addr := range addrs {
		fmt.Println(addr)
	}
	return err
}

// freeAddresses returns addresses of this machine at which nobody listens: each at its port, if
// that is free. "0" is any.
func freeAddresses(ports []string) ([]string, error) {
	host, _, err := net.SplitHostPort(discovery.ListenAt())
	addrs := make([]string, len(ports))
	var open []net.Listener // until all have been found: none is found twice
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
			_ = listen(i, port) // else it gets another one
		}
	}
	for i := range ports {
		if addrs[i] == "" {
			err = errors.Join(err, listen(i, "0"))
		}
	}
	return addrs, err
}
