package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// TestSmallCallsBesideALargeOne: if a client does not read a large result, only this call waits.
// Small calls of the same client to the same server return by the trunk. Results around its bound
// and far above it are complete.
func TestSmallCallsBesideALargeOne(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart", "--store", "")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	square, text := gridrpc.Service[float64, where](c, "square"), gridrpc.Service[int, string](c, "text")
	in := 3.0
	conn := p.toServer(ctx, c)
	probed, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
	require.NoError(t, err)
	const large = 64 << 20
	stuck, err := pb.NewServerClient(conn).Calls(ctx)
	require.NoError(t, err)
	argument := []byte(fmt.Sprint(large))
	require.NoError(t, stuck.Send(&pb.CallFrame{Kind: &pb.CallFrame_Submit{Submit: &pb.Submit{
		Call: make([]byte, 16), Attempt: 1, Incarnation: probed.Me.Incarnation, Service: "text", Codec: "json", Size: uint64(len(argument)),
	}}}))
	require.NoError(t, stuck.Send(&pb.CallFrame{Kind: &pb.CallFrame_Data{Data: &pb.Data{Body: argument}}}))
	for result := false; !result; { // until the result is on its way and fills the window of the client
		f, err := stuck.Recv()
		require.NoError(t, err)
		result = f.GetResult() != nil
	}
	for range 100 {
		_, err := square.Call(ctx, &in)
		require.NoError(t, err)
	}
	for _, n := range []int{65<<10 - 1, 64<<10 - 8, 64 << 10, 1 << 20} {
		out, err := text.Call(ctx, &n)
		require.NoError(t, err)
		assert.Len(t, *out, n)
	}
	got := 0
	for got < large+2 {
		f, err := stuck.Recv()
		require.NoError(t, err)
		got += len(f.GetData().GetBody())
	}
}

// TestServerOfManyKilled: all calls in the trunk of a server that dies are lost there, and each
// continues at another server. A call with AtMostOnce ends with an error.
func TestServerOfManyKilled(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--store", "")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	hold := gridrpc.Service[float64, where](c, "hold")
	in := 2.0
	var running, all sync.WaitGroup
	running.Add(2)
	call := func(once bool) {
		first := sync.OnceFunc(running.Done)
		o := []gridrpc.CallOption{gridrpc.Watch(func(e gridrpc.Event) {
			if e.What == gridrpc.Progressed {
				first()
			}
		})}
		if once {
			o = append(o, gridrpc.AtMostOnce())
		}
		out, err := hold.Call(ctx, &in, o...)
		if once {
			assert.ErrorIs(t, err, gridrpc.ErrServerLost)
		} else if assert.NoError(t, err) {
			assert.Equal(t, 2, out.Attempt)
		}
	}
	all.Go(func() { call(false) })
	all.Go(func() { call(true) })
	running.Wait()
	p.signal("s1", syscall.SIGKILL)
	all.Wait()
}

// TestOneOfManyCancelled: a cancellation ends the body of one call, and no other one in the trunk.
func TestOneOfManyCancelled(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart", "--store", "")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	gate := filepath.Join(t.TempDir(), "gate")
	require.NoError(t, syscall.Mkfifo(gate+"-1", 0o600))
	relay := gridrpc.Service[string, where](c, "relay")
	begin := func() *gridrpc.Session[where] {
		runs := make(chan struct{})
		first := sync.OnceFunc(func() { close(runs) })
		s, err := relay.Go(ctx, &gate, gridrpc.Watch(func(e gridrpc.Event) {
			if e.What == gridrpc.Progressed {
				first()
			}
		}))
		require.NoError(t, err)
		<-runs
		return s
	}
	kept, given := begin(), begin()
	given.Cancel()
	_, err := given.Wait(ctx)
	require.ErrorIs(t, err, context.Canceled)
	p.await("attempt 1 was cancelled")
	require.NoError(t, os.WriteFile(gate+"-1", nil, 0)) // both bodies read the pipe until the process ends
	_, err = kept.Wait(ctx)
	require.NoError(t, err)
}

// TestOldClient: a client of an earlier wire version gets a clear error.
func TestOldClient(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart", "--store", "")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	conn := p.toServer(ctx, c)
	err := conn.Invoke(ctx, "/gridrpc.v1.Node/Probe", &pb.ProbeRequest{}, &pb.ProbeReply{})
	assert.Equal(t, codes.Unimplemented, status.Code(err))
	assert.ErrorContains(t, err, "/gridrpc.v1.Node/Probe")
	assert.ErrorContains(t, err, pb.Wire())
}
