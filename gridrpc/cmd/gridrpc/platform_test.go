package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/eventlog"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// programs are built once, by the first test that needs them, without data for debuggers, which
// would double the time.
type programs struct{ gridrpc, trial string }

var built = sync.OnceValue(func() programs {
	dir, err := os.MkdirTemp("", "gridrpc-test")
	if err != nil {
		panic(err)
	}
	p := programs{gridrpc: filepath.Join(dir, "gridrpc"), trial: filepath.Join(dir, "trial")}
	for binary, pkg := range map[string]string{p.gridrpc: ".", p.trial: "../../internal/testserver"} {
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, pkg).CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	toRemove = dir
	return p
})

// toRemove is the folder of the programs, if there is one.
var toRemove string

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(toRemove)
	os.Exit(code)
}

// trial is a platform of real processes for one test.
type trial struct {
	t   *testing.T
	dir string
	end func() // of "gridrpc up"; the test's end does so too

	eventLog *eventlog.Log
}

// within bounds all waits of tests. It measures nothing.
const within = time.Minute

// startTrial starts "gridrpc up" with the arguments before the server for tests.
func startTrial(t *testing.T, args ...string) *trial {
	p := newTrial(t)
	p.start([]string{built().trial}, args...)
	return p
}

// newTrial returns a platform in a folder of its own that was not started.
func newTrial(t *testing.T) *trial {
	return &trial{t: t, dir: filepath.Join(t.TempDir(), "platform"), eventLog: eventlog.New()}
}

// start starts the platform in its folder. program is that of the servers, with its arguments.
func (p *trial) start(program []string, args ...string) {
	t := p.t
	t.Setenv(gridrpc.EnvDir, p.dir)
	cmd := exec.Command(built().gridrpc, slices.Concat([]string{"up", "--dir", p.dir}, args, program)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	told := make(chan struct{})
	go func() { defer close(told); p.eventLog.Read(out, nil) }()
	p.end = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-told
		assert.NoError(t, cmd.Wait())
		if t.Failed() {
			t.Log("the platform's event log:\n" + p.eventLog.String())
		}
	})
	t.Cleanup(p.end)
	p.await(eventlog.Serving)
}

// await waits until the log has a text.
func (p *trial) await(text string) {
	p.until("the event log to have "+text, func() bool { return strings.Contains(p.eventLog.String(), text) })
}

// until waits until a change of the log makes holds true.
func (p *trial) until(what string, holds func() bool) {
	require.True(p.t, p.eventLog.Until(within, holds), "waited for %s; the event log:\n%s", what, p.eventLog)
}

// told returns the log so far.
func (p *trial) told() string { return p.eventLog.String() }

// signal sends a signal to a process of the platform.
func (p *trial) signal(name string, s syscall.Signal) {
	pid := p.eventLog.PID(name)
	require.NotZero(p.t, pid, "no process %s", name)
	require.NoError(p.t, syscall.Kill(pid, s))
}

// dial makes a client.
func (p *trial) dial(o ...gridrpc.DialOption) *gridrpc.Client {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	p.t.Cleanup(cancel)
	c, err := gridrpc.Dial(ctx, "", o...)
	require.NoError(p.t, err)
	p.t.Cleanup(c.Close)
	return c
}

// toServer returns a connection, with a client's identity, to the only server, which has joined.
func (p *trial) toServer(ctx context.Context, c *gridrpc.Client) *grpc.ClientConn {
	_, err := gridrpc.Service[float64, where](c, "square").Call(ctx, new(3.0))
	require.NoError(p.t, err)
	offers, err := c.Offers(ctx)
	require.NoError(p.t, err)
	id, err := link.Load(p.dir, "client")
	require.NoError(p.t, err)
	conn, err := id.Dial(offers[0].Addr)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { conn.Close() })
	return conn
}

// where is the answer of services of the trial server.
type where struct {
	Server  string
	Attempt int
	Value   float64
}

// TestServerKilled is the first promise: the server that runs a call is killed, and another server
// returns the right answer.
func TestServerKilled(t *testing.T) {
	p := startTrial(t, "--tree", "1x3", "--no-restart")
	c := p.dial()
	hold := gridrpc.Service[float64, where](c, "hold")
	var killed string
	var when, again time.Time
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Progressed && e.Attempt == 1: // the body runs
			killed, when = e.Server, time.Now()
			p.signal(killed, syscall.SIGKILL)
		case e.What == gridrpc.Began && e.Attempt == 2:
			again = time.Now()
		}
	})
	in := 2.0
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	out, err := hold.Call(ctx, &in, watch)
	require.NoError(t, err)
	assert.Equal(t, 2, out.Attempt)
	assert.NotEqual(t, killed, out.Server)
	assert.NotEmpty(t, killed)
	t.Logf("kill -9 to running elsewhere: %v", again.Sub(when))
}

// TestPoison: a call that kills one server after the other is not repeated for ever (S4).
func TestPoison(t *testing.T) {
	p := startTrial(t, "--tree", "1x4", "--no-restart")
	c := p.dial()
	killed := map[string]bool{}
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Progressed && !killed[e.Server] {
			killed[e.Server] = true
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	in := 100.0
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, err := gridrpc.Service[float64, where](c, "hold").Call(ctx, &in, watch)
	require.ErrorIs(t, err, gridrpc.ErrPoison)
	assert.Len(t, killed, 3)
}

// TestAtMostOnce: the loss of the server is an error, and no other one runs the body (S2).
func TestAtMostOnce(t *testing.T) {
	p := startTrial(t, "--tree", "1x2", "--no-restart")
	c := p.dial()
	attempts := 0
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		attempts = max(attempts, e.Attempt)
		if e.What == gridrpc.Progressed {
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	in := 2.0
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, err := gridrpc.Service[float64, where](c, "hold").Call(ctx, &in, watch, gridrpc.AtMostOnce())
	require.ErrorIs(t, err, gridrpc.ErrServerLost)
	assert.Equal(t, 1, attempts)
}

// TestCallsAndMistakes: answers and errors of an undisturbed platform.
func TestCallsAndMistakes(t *testing.T) {
	p := startTrial(t, "--tree", "1x2")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	in := 3.0
	call := func(name string, o ...gridrpc.CallOption) (*where, error) {
		return gridrpc.Service[float64, where](c, name, o...).Call(ctx, &in)
	}
	for _, codec := range []gridrpc.Codec{gridrpc.Gob, gridrpc.JSON} {
		out, err := call("square", gridrpc.InCodec(codec))
		require.NoError(t, err)
		assert.Equal(t, 9.0, out.Value)
	}
	_, err := call("fail")
	require.ErrorIs(t, err, gridrpc.ErrService)
	assert.ErrorContains(t, err, "failure on request")
	_, err = call("panic")
	require.ErrorIs(t, err, gridrpc.ErrService)
	var e *gridrpc.Error
	require.True(t, errors.As(err, &e))
	assert.Contains(t, e.Stack, "testserver/main.go")
	_, err = call("sqare", gridrpc.Patience(time.Nanosecond))
	require.ErrorIs(t, err, gridrpc.ErrNoService)
	assert.ErrorContains(t, err, "square")
	text := "three"
	_, err = gridrpc.Service[string, where](c, "square", gridrpc.InCodec(gridrpc.JSON)).Call(ctx, &text)
	require.ErrorIs(t, err, gridrpc.ErrCodec)

	held, give := context.WithCancel(ctx)
	_, err = gridrpc.Service[float64, where](c, "hold").Call(held, new(100.0), gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Progressed {
			give()
		}
	}))
	require.ErrorIs(t, err, context.Canceled)
}

// TestAbandonedBeforeItsArgument: a client attaches to an attempt before its argument has arrived,
// and cancels it. There is no body to cancel yet, and the server continues.
func TestAbandonedBeforeItsArgument(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	in := 3.0
	square := gridrpc.Service[float64, where](c, "square")
	conn := p.toServer(ctx, c)
	probed, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
	require.NoError(t, err)
	submit := func(cancelled bool) grpc.BidiStreamingClient[pb.CallFrame, pb.CallFrame] {
		stream, err := pb.NewServerClient(conn).Calls(ctx)
		require.NoError(t, err)
		require.NoError(t, stream.Send(&pb.CallFrame{Kind: &pb.CallFrame_Submit{Submit: &pb.Submit{
			Call: make([]byte, 16), Attempt: 1, Incarnation: probed.Me.Incarnation, Service: "square", Codec: "gob", Size: 10,
		}}}))
		if cancelled {
			require.NoError(t, stream.Send(&pb.CallFrame{Kind: &pb.CallFrame_Cancel{Cancel: &pb.Cancel{}}}))
			require.NoError(t, stream.CloseSend())
		}
		return stream
	}
	var first grpc.BidiStreamingClient[pb.CallFrame, pb.CallFrame]
	for joined := false; !joined; { // until the server has accepted them in this order
		first = submit(false)
		second := submit(true)
		f, err := second.Recv()
		joined = f.GetAccepted().GetAttached()
		for err == nil {
			_, err = second.Recv()
		}
	}
	require.NoError(t, first.CloseSend())
	_, err = square.Call(ctx, &in)
	require.NoError(t, err)
}

// TestManyCalls: more calls than places wait, are refused and repeated, and all return.
func TestManyCalls(t *testing.T) {
	p := startTrial(t, "--tree", "1x2")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	square := gridrpc.Service[float64, where](c, "square")
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			in := float64(i)
			out, err := square.Call(ctx, &in)
			if assert.NoError(t, err) {
				assert.Equal(t, in*in, out.Value)
			}
		})
	}
	all.Wait()
}
