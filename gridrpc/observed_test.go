package gridrpc

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// envEmitters makes the test program act as many observed processes: "DIR NUMBER".
const envEmitters = "GRIDRPC_TEST_EMITTERS"

func TestMain(m *testing.M) {
	if text := os.Getenv(envEmitters); text != "" {
		emit(text)
		return
	}
	os.Exit(m.Run())
}

// emitter is one observed process: its own listener, its own socket.
type emitter struct {
	pb.UnimplementedNodeServer
	pulse *heartbeat.Pulse
	me    *pb.Ref
}

func (e *emitter) Beats(stream heartbeat.Stream) error { return e.pulse.Serve(stream) }

func (e *emitter) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: e.me}, nil
}

// emit is the other process of the measurement: it prints an address for each emitter, and ends
// with its input.
func emit(text string) {
	var dir string
	var n int
	_, err := fmt.Sscan(text, &dir, &n)
	id, wrong := link.Load(dir, "worker")
	for i := range n {
		l, failed := net.Listen("tcp", "127.0.0.1:0")
		if err != nil || wrong != nil || failed != nil {
			panic(fmt.Sprint(err, wrong, failed))
		}
		e := &emitter{me: &pb.Ref{Name: fmt.Sprint("s", i), Incarnation: uint64(i + 1), Addr: l.Addr().String()}}
		if e.pulse, err = heartbeat.New(id, e.me); err != nil {
			panic(err)
		}
		g := id.NewServer()
		pb.RegisterNodeServer(g, e)
		go func() { _ = g.Serve(l) }()
		fmt.Println(e.me.Addr)
	}
	_, _ = io.ReadAll(os.Stdin)
}

// startEmitters returns the observed processes.
func startEmitters(t testing.TB, dir string, n int) (refs []*pb.Ref) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envEmitters+"="+dir+" "+strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); len(refs) < n && lines.Scan(); {
		refs = append(refs, &pb.Ref{Name: fmt.Sprint("s", len(refs)), Incarnation: uint64(len(refs) + 1), Addr: lines.Text()})
	}
	require.Len(t, refs, n)
	return refs
}

// usage is the memory of this process, and its goroutines.
type usage struct{ heap, stack, goroutines int }

func measure() usage {
	runtime.GC()
	runtime.GC()
	runtime.GC()
	runtime.GC() // pools are emptied by the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{int(m.HeapAlloc), int(m.StackInuse), runtime.NumGoroutine()}
}

// perServer is the cost of one of many servers: bytes and goroutines.
type perServer struct{ heap, stack, goroutines float64 }

func (p perServer) String() string {
	return fmt.Sprintf("%.0f bytes of heap, %.0f of stack, %.2f goroutines", p.heap, p.stack, p.goroutines)
}

// since returns the cost of each of n servers.
func (u usage) since(before usage, n int) perServer {
	each := func(now, then int) float64 { return float64(now-then) / float64(n) }
	return perServer{each(u.heap, before.heap), each(u.stack, before.stack), each(u.goroutines, before.goroutines)}
}

// settle waits until no introduction is under way and stacks are released.
func settle(t testing.TB, goroutines int) usage {
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "%d goroutines, want %d", runtime.NumGoroutine(), goroutines)
	}
	return measure()
}

// paperMemory is the memory of the detector of Bouteiller and Desprez for each observed process, in
// bytes.
const paperMemory = 708

// memoryRounds is the number of measurements. The runtime returns stacks in pieces of 32 kB, so the
// stacks of the whole process vary by some of these pieces between rounds, for any number of
// servers.
const memoryRounds = 5

// TestMemoryOfObserved measures a client's observation of servers as it is, heap and stacks, with
// its connections, its socket and its goroutines, and beside it the connection for calls.
func TestMemoryOfObserved(t *testing.T) {
	for _, n := range []int{64, 1024} {
		if n > 64 && testing.Short() {
			continue
		}
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dir := t.TempDir()
			a, err := link.NewAuthority("observed")
			require.NoError(t, err)
			require.NoError(t, a.Save(dir))
			require.NoError(t, a.Issue(dir, link.Worker, "worker"))
			require.NoError(t, a.Issue(dir, link.Client, "client"))
			id, err := link.Load(dir, "client")
			require.NoError(t, err)
			refs := startEmitters(t, dir, n)
			for range 3 { // after this, all data that a process makes once exist
				measureObserved(t, id, refs[:64])
			}
			var rounds []perServer
			for range memoryRounds {
				rounds = append(rounds, measureObserved(t, id, refs))
			}
			slices.SortFunc(rounds, func(a, b perServer) int { return cmp.Compare(a.heap, b.heap) })
			least := rounds[0] // others have descriptors of goroutines that have ended, too: the runtime keeps them for the next ones
			t.Logf("%d observed servers: %.0f bytes of heap and %.0f goroutines each, the lowest of %d rounds", n, least.heap, least.goroutines, len(rounds))
			for _, r := range rounds {
				t.Logf("    %.0f bytes of heap each; stacks of the whole process %+.0f bytes", r.heap, r.stack*float64(n))
			}
			assert.LessOrEqual(t, least.heap, float64(paperMemory))
			assert.LessOrEqual(t, least.goroutines, 0.0, "without goroutines there are no stacks")

			before := measure()
			var conns []*grpc.ClientConn
			for _, ref := range refs {
				conns = append(conns, probed(t, id, ref))
			}
			t.Logf("%d connections for calls: %v, each", n, measure().since(before, n))
			for _, c := range conns {
				link.HangUp(c)
			}
		})
	}
}

// measureObserved observes servers as a client does, each with a call under way, and returns the
// cost.
func measureObserved(t testing.TB, id *link.Identity, refs []*pb.Ref) perServer {
	g := guards{asked: quality(0)}
	g.begin()
	var err error
	g.pulse, err = heartbeat.NewObserver(id, "127.0.0.1:0")
	require.NoError(t, err)
	defer g.pulse.Close()
	before, call := measure(), &flight{}
	for _, ref := range refs {
		g.add(call, &pb.Ref{Name: strings.Clone(ref.Name), Incarnation: ref.Incarnation, Addr: strings.Clone(ref.Addr)})
	}
	each := settle(t, before.goroutines).since(before, len(refs))
	observed := g.pulse.Watched()
	require.Len(t, observed, len(refs))
	for _, w := range observed {
		require.False(t, w.Suspected, w.Name)
	}
	return each
}

// probed returns a connection that has carried a call.
func probed(t testing.TB, id *link.Identity, ref *pb.Ref) *grpc.ClientConn {
	conn, err := id.Dial(ref.Addr)
	require.NoError(t, err)
	reply, err := pb.NewNodeClient(conn).Probe(context.Background(), &pb.ProbeRequest{})
	require.NoError(t, err)
	require.Equal(t, ref.Name, reply.Me.Name)
	return conn
}

// TestDetectTooSoon: a time that no observation can meet is an error of Dial, which names the least.
func TestDetectTooSoon(t *testing.T) {
	for within, want := range map[time.Duration]string{
		time.Millisecond:       "Detect(1ms): want at least 250ms",
		249 * time.Millisecond: "Detect(249ms): want at least 250ms",
		-time.Second:           "Detect(-1s): want at least 250ms",
	} {
		_, err := Dial(t.Context(), "", Detect(within))
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, checkQuality(quality(250*time.Millisecond)))
	require.NoError(t, checkQuality(quality(0)), "the default")
}
