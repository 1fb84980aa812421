package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/folder"
)

// reserve finds addresses at which nobody listens, on the machines of n peers that have to know each other's before any
// of them is there. Should another process take one meanwhile, who wants it says so and ends.
func (p *platform) reserve(ctx context.Context, prefix string, n int) ([]folder.Peer, error) {
	list := make([]folder.Peer, n)
	for i := range list {
		list[i] = folder.Peer{Name: fmt.Sprintf("%s%d", prefix, i+1), Host: p.hosts.of(i)}
	}
	machines := max(1, len(p.hosts.names))
	for m := range min(machines, n) { // each is asked once: what is free twice may be the same
		var here []int
		for i := m; i < n; i += machines {
			here = append(here, i)
		}
		addrs, err := p.freeAt(ctx, p.hosts.remote(m), 2*len(here))
		if err != nil {
			return nil, err
		}
		for k, i := range here {
			list[i].Addr, list[i].Route = addrs[2*k], addrs[2*k+1]
		}
	}
	return list, nil
}

// freeAt returns so many addresses of a machine at which nobody listens.
func (p *platform) freeAt(ctx context.Context, at remote, n int) ([]string, error) {
	if at.host == "" {
		return freeAddresses(n)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	command, words := at.command([]string{folder.EnvListen + "=" + at.host}, self, []string{"free", fmt.Sprint(n)})
	cmd := exec.CommandContext(ctx, command, words...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var addrs []string
	if err == nil {
		addrs, err = readAddresses(string(out), n)
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
func freeProcess(_ context.Context, args []string) error {
	var n int
	if len(args) != 1 {
		return errUsage
	}
	if _, err := fmt.Sscan(args[0], &n); err != nil || n < 1 || n > 2*processesMax {
		return errUsage
	}
	addrs, err := freeAddresses(n)
	for _, addr := range addrs {
		fmt.Println(addr)
	}
	return err
}

// freeAddresses returns so many addresses of this machine at which nobody listens.
func freeAddresses(n int) (addrs []string, err error) {
	for range n {
		l, err := net.Listen("tcp", folder.ListenAt())
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all have been found: none is found twice
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}
