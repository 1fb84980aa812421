package tcp

import (
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/faultproxy"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestGarbageConnections: while two ranks talk, 400 connections (10,000 in long runs) send nothing,
// garbage, or the first 8 bytes of a member's preamble. They cause no anomaly, and the talk
// continues: its own connections are cut at times, and the new ones must get through.
func TestGarbageConnections(t *testing.T) {
	inModes(t, func(t *testing.T, mode socket.Mode) {
		count := longtest.N(400, 10_000)
		if testing.Short() {
			count = 400
		}
		k := newTalk(t, mode, 300, 100, 1000, random(5, 80_000, faultproxy.Cut)) // an anomaly fails the test
		garbage := [][]byte{nil, []byte("GET / HTTP/1.0\r\n\r\nand what a browser says"), make([]byte, socket.PreambleSize), []byte("goulfm/1")}
		before, start := cpu(t), time.Now()
		var strangers sync.WaitGroup
		for worker := range 4 {
			strangers.Go(func() {
				for i := range count / 4 {
					c, err := net.Dial("tcp", k.listen[worker%2].Addr().String())
					if err != nil {
						continue // the accept queue is full
					}
					_, _ = c.Write(garbage[i%len(garbage)])
					c.Close()
				}
			})
		}
		k.finish(k.start())
		strangers.Wait()
		t.Logf("%d connections in %v, %v of CPU for both sides and the talk", count, time.Since(start).Round(time.Millisecond), cpu(t)-before)
	})
}

// cpu returns the CPU time of this process so far.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Round(time.Millisecond)
}
