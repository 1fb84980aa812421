package faultproxy

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWeather: the draws have the requested shares, in virtual time.
func TestWeather(t *testing.T) {
	const n, step = 200_000, time.Millisecond
	w := Weather{Loss: 0.05, Delay: 5 * time.Millisecond, Jitter: 20 * time.Millisecond}
	f := newFate(1)
	f.change(0, w)
	lost, sum := 0, time.Duration(0)
	for i := range n {
		late, gone := f.draw(time.Duration(i) * step)
		if gone {
			lost++
			continue
		}
		require.GreaterOrEqual(t, late, w.Delay)
		require.Less(t, late, w.Delay+w.Jitter)
		sum += late
	}
	assert.InDelta(t, 0.05, float64(lost)/n, 0.005)
	assert.InDelta(t, 15, float64(sum.Milliseconds())/float64(n-lost), 0.5)
}

// TestOutages: all datagrams are lost for the time of an outage, and no others.
func TestOutages(t *testing.T) {
	const step = time.Millisecond
	f := newFate(2)
	f.change(0, Weather{Outage: 300 * time.Millisecond, OutageEach: 10 * time.Second})
	lengths, run := []int{}, 0
	total := 2_000_000
	for i := range total {
		_, lost := f.draw(time.Duration(i) * step)
		switch {
		case lost:
			run++
		case run > 0:
			lengths = append(lengths, run)
			run = 0
		}
	}
	assert.InDelta(t, total/10_300, len(lengths), 45, "outages in 2,000 s") // three deviations of about 194
	for _, l := range lengths {
		assert.Zero(t, l%300, "an outage of %d ms", l) // a pause below a step joins two
	}
	f.change(time.Hour, Weather{})
	_, lost := f.draw(time.Hour)
	assert.False(t, lost, "fair again")
}

// TestDatagrams: both ways, to the dialer that sent last. Each datagram is seen, also a lost one.
func TestDatagrams(t *testing.T) {
	target := listenUDP(t)
	came := make(chan Direction, 10)
	p, err := NewDatagrams(target.LocalAddr().String(), 1, Weather{Delay: time.Millisecond}, func(d Direction, packet []byte) { came <- d })
	require.NoError(t, err)
	defer p.Close()
	for range 2 { // two dialers, one after the other
		dialer := listenUDP(t)
		to, err := net.ResolveUDPAddr("udp", p.Addr())
		require.NoError(t, err)
		say := func(from *net.UDPConn, text string) {
			_, err := from.WriteTo([]byte(text), to)
			require.NoError(t, err)
		}
		hear := func(at *net.UDPConn) string {
			buf := make([]byte, 100)
			n, err := at.Read(buf)
			require.NoError(t, err)
			return string(buf[:n])
		}
		say(dialer, "there")
		assert.Equal(t, "there", hear(target))
		say(target, "back")
		assert.Equal(t, "back", hear(dialer))
		p.Change(Weather{Loss: 1})
		before := p.Stats().Lost
		say(dialer, "gone")
		assert.Equal(t, []Direction{ToTarget, ToDialer, ToTarget}, []Direction{<-came, <-came, <-came})
		p.Change(Weather{})
		say(dialer, "again") // behind the lost one
		assert.Equal(t, "again", hear(target))
		assert.Equal(t, before+1, p.Stats().Lost)
		<-came
	}
}

func listenUDP(t *testing.T) *net.UDPConn {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second))) // a hang fails
	return conn
}
