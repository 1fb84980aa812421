package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/platform"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestParseHosts: the flags --hosts and --rsh are machines, or a number of machines to imitate.
func TestParseHosts(t *testing.T) {
	read := func(text, rsh string) (platform.Config, error) {
		c := platform.Config{Command: "gridrpc", Program: []string{"program"}}.WithDefaults()
		err := setHosts(&c, text, rsh)
		if err == nil {
			err = asFlag("up", c.Check())
		}
		return c, err
	}
	for text, want := range map[string]platform.Config{
		"":      {},
		"3":     {Imitate: 3},
		"a,b,c": {Hosts: []string{"a", "b", "c"}, RemoteShell: []string{"ssh", "-T"}},
	} {
		c, err := read(text, "ssh -T")
		require.NoError(t, err, text)
		assert.Equal(t, want, platform.Config{Hosts: c.Hosts, RemoteShell: c.RemoteShell, Imitate: c.Imitate}, text)
	}
	for _, bad := range []string{"0", "-1", "a,,b", "-oProxyCommand=x", ","} {
		_, err := read(bad, "ssh")
		assert.ErrorContains(t, err, "--hosts "+bad+": want machines", bad)
	}
	_, err := read("a", " ")
	assert.ErrorContains(t, err, "--rsh : want a command")
}

// TestMastersOnOtherMachines: masters, agents and processes of the store are placed on machines in
// turn, and listen at their addresses. Here the second machine has two masters and two addresses of
// the store, which are all different. The processes there end with "up".
func TestMastersOnOtherMachines(t *testing.T) {
	longtest.Skip(t, "masters on three machines")
	disks := t.TempDir()
	p := startTrial(t, "--masters", "3", "--tree", "3x1", "--store", "jetstream", "--store-dir", disks, "--hosts", "127.0.0.3,127.0.0.2", "--rsh", remoteShell(t), "--no-restart")
	hostOf := func(addr string) string {
		host, _, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		return host
	}
	seen := map[string]bool{}
	for _, group := range []string{discovery.Council, discovery.Replicas} {
		list, err := discovery.Peers(p.dir, group)
		require.NoError(t, err)
		require.Len(t, list, 3)
		for i, want := range []string{"127.0.0.3", "127.0.0.2", "127.0.0.3"} {
			assert.Equal(t, []string{want, want, want}, []string{list[i].Host, hostOf(list[i].Addr), hostOf(list[i].Route)}, list[i].Name)
			seen[list[i].Addr], seen[list[i].Route] = true, true
		}
	}
	assert.Len(t, seen, 12)
	for _, name := range []string{"st1", "st2", "st3"} {
		assert.DirExists(t, filepath.Join(disks, name, "jetstream"))
		info, err := os.Stat(filepath.Join(disks, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	assert.NoDirExists(t, filepath.Join(p.dir, "jetstream"))
	for i, want := range []string{"127.0.0.3", "127.0.0.2", "127.0.0.3"} {
		assert.Equal(t, want, hostOf(discovery.Address(p.dir, fmt.Sprintf("a%d", i+1))))
	}
	p.await("is the root, of term")
	c := p.dial()
	awaitOffers(t, c, "square", 3)
	out, err := gridrpc.Service[float64, where](c, "square").Call(t.Context(), new(3.0))
	require.NoError(t, err)
	assert.Equal(t, 9.0, out.Value)
	p.end()
	for addr := range seen {
		conn, err := net.Dial("tcp", addr)
		if !assert.ErrorIs(t, err, syscall.ECONNREFUSED, addr) {
			conn.Close()
		}
	}
}

// TestNoSuchMachine: an unreachable machine is an error before any process starts.
func TestNoSuchMachine(t *testing.T) {
	p := newTrial(t)
	for rsh, want := range map[string]string{"false": "exit status 1", "echo": "0 of 2 addresses"} {
		_, errs, err := p.command("up", "--masters", "3", "--hosts", "127.0.0.2,127.0.0.3,127.0.0.4", "--rsh", rsh, built().trial)
		require.Error(t, err)
		assert.Contains(t, errs, "127.0.0.2: "+want)
		assert.Contains(t, errs, "does --rsh run it")
	}
}

// remoteShell returns a command that runs another one on this machine as a remote shell does.
func remoteShell(t *testing.T) string {
	rsh := filepath.Join(t.TempDir(), "rsh")
	require.NoError(t, os.WriteFile(rsh, []byte("#!/bin/sh\nshift\nexec sh -c \"$*\"\n"), 0o700))
	return rsh
}

// TestServersOnOtherMachines: a remote shell starts servers on two machines, here two addresses of
// this one. One server is killed during a call, which continues at the other.
func TestServersOnOtherMachines(t *testing.T) {
	p := startTrial(t, "--tree", "1x2", "--hosts", "127.0.0.2,127.0.0.3", "--rsh", remoteShell(t), "--no-restart")
	c := p.dial()
	awaitOffers(t, c, "count", 2)
	var lost []string
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Checkpointed && len(lost) == 0:
			lost = append(lost, e.Server)
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[count, counted](c, "count").Call(t.Context(), &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)
	require.Len(t, lost, 1)
	assert.NotEqual(t, lost[0], out.Server)
	assert.Contains(t, p.told(), " at 127.0.0.2\n")
	assert.Contains(t, p.told(), " at 127.0.0.3\n")
}
