package tcp

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/socket"
	"github.com/goulfm/goulfm/internal/transport"
)

// pingPong has two ranks, a thread each, send an eager frame to and fro; an operation is one way.
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
				if looks%16 == 0 { // connections are made, and acknowledgements written, meanwhile
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
	both(10) // opens the lanes
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
