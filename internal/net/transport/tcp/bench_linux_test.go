package tcp

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
)

// pingPong: two ranks, a goroutine each, send an eager frame back and forth; an operation is one
// way.
func pingPong(b *testing.B, mode socket.Mode, size int) {
	w := newWorld(b, 2, mode)
	var links [2]*Link
	for rank := range links {
		links[rank] = w.Port(rank).Link.(*Link)
	}
	h, payload := transport.Header{Kind: transport.Eager, Size: size}, make([]byte, size)
	play := func(me, turns int) {
		link := links[me]
		for turn := range turns {
			if turn%2 == me {
				if !link.TrySend(1-me, &h, payload) {
					panic("no room")
				}
				continue
			}
			for looks := 1; ; looks++ {
				if _, ok := link.Peek(1 - me); ok {
					link.Advance(1 - me)
					break
				}
				if looks%16 == 0 { // meanwhile connections are made and acknowledgements written
					link.Take(transport.Data, nil)
					link.Sweep(1 - me)
				}
			}
		}
	}
	both := func(turns int) {
		ended := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			play(1, turns)
			close(ended)
		}()
		play(0, turns)
		<-ended
	}
	both(10) // opens the data lane
	b.SetBytes(int64(size))
	b.ResetTimer()
	both(b.N)
	b.StopTimer()
	require.NoError(b, links[0].Broken(1))
}

func BenchmarkPingPong(b *testing.B) {
	for _, mode := range [2]socket.Mode{socket.Auth, socket.TLS} {
		for _, size := range []int{8, 4 << 10, 64 << 10} {
			b.Run(fmt.Sprint(mode, "/", size), func(b *testing.B) { pingPong(b, mode, size) })
		}
	}
}

// BenchmarkRate sends windows of 64 short frames. The receiver answers each window with one frame.
// An operation is one of the 64.
func BenchmarkRate(b *testing.B) {
	const window = 64
	w := newWorld(b, 2, socket.Auth)
	links := [2]*Link{w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)}
	h, payload := transport.Header{Kind: transport.Eager, Size: 8}, make([]byte, 8)
	send := func(me int) {
		for !links[me].TrySend(1-me, &h, payload) {
			links[me].Take(transport.Data, nil)
		}
	}
	receive := func(me, frames int) {
		for looks := 1; frames > 0; looks++ {
			if _, ok := links[me].Peek(1 - me); ok {
				links[me].Advance(1 - me)
				frames--
			} else if looks%16 == 0 {
				links[me].Take(transport.Data, nil)
				links[me].Sweep(1 - me)
			}
		}
	}
	rounds := b.N/window + 1
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		for range rounds {
			receive(1, window)
			send(1)
		}
		close(ended)
	}()
	for range rounds {
		for range window {
			send(0)
		}
		receive(0, 1)
	}
	<-ended
}
