package faultproxy

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPackets(t *testing.T) {
	target, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer target.Close()
	require.NoError(t, target.SetDeadline(time.Now().Add(30*time.Second))) // a hang fails
	p, err := NewPackets(target.LocalAddr().String())
	require.NoError(t, err)
	defer p.Close()
	from, err := net.Dial("udp", p.Addr())
	require.NoError(t, err)
	defer from.Close()
	say := func(text string) { _, err := from.Write([]byte(text)); require.NoError(t, err) }
	hear := func() string {
		buf := make([]byte, 100)
		n, err := target.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
	say("first")
	assert.Equal(t, "first", hear())
	p.Drop(true)
	say("gone")
	for p.Lost() == 0 {
		time.Sleep(time.Millisecond)
	}
	p.Drop(false)
	say("second")
	assert.Equal(t, "second", hear())
}

// TestTheEndStandsStill: a stall holds the end back, with the data before it.
func TestTheEndStandsStill(t *testing.T) {
	r := newRoad(t, nil)
	dialer, target := r.connect()
	r.Stall(ToTarget)
	dialer.Close()
	r.Await(func(s Stats) bool { return s.Waiting[ToTarget] == 1 })
	r.Resume(ToTarget)
	r.wantEnd(target, "", false)
}
