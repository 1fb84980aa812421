package main

import (
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

// childVar makes a process of this program a child, and names its kind. A child serves calls on its
// standard input and output, and ends with them.
const (
	childVar   = "GOULFM_DETECT_CHILD"
	asEmitter  = "emitter"
	asNetwork  = "network"
	childsName = "Child"
)

func isChild() bool { return os.Getenv(childVar) != "" }

func serveChild() {
	var receiver any = &Network{Clock: Clock{startLateness()}}
	if os.Getenv(childVar) == asEmitter {
		node, err := beat.Listen("127.0.0.1:0")
		if err != nil {
			fmt.Fprintln(os.Stderr, "emitter:", err)
			os.Exit(1)
		}
		receiver = &Emitter{Clock: Clock{startLateness()}, node: node}
	}
	s := rpc.NewServer()
	if err := s.RegisterName(childsName, receiver); err != nil {
		panic(err)
	}
	s.ServeConn(pipes{os.Stdin, os.Stdout})
}

// pipes are two files as one connection.
type pipes struct {
	io.ReadCloser
	out io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p pipes) Close() error { return errors.Join(p.out.Close(), p.ReadCloser.Close()) }

// None is an empty argument or result.
type None struct{}

// A Span is two moments.
type Span struct{ From, To time.Time }

// Clock answers requests for the delay of a child.
type Clock struct{ late *lateness }

// Late returns the largest delay within a span.
func (c Clock) Late(s Span, worst *time.Duration) error {
	*worst = c.late.worst(s.From, s.To)
	return nil
}

// Emitter is the child that sends heartbeats.
type Emitter struct {
	Clock
	node *beat.Endpoint
	mu   sync.Mutex
	last *beat.Sender
}

// Addr returns its address for datagrams.
func (e *Emitter) Addr(_ None, addr *string) error {
	*addr = e.node.Addr().String()
	return nil
}

// An Ask is the request of an observer to an emitter.
type Ask struct {
	Stream uint32
	Key    []byte
}

// Emit begins to send, in place of an earlier request. Datagrams are the only path.
func (e *Emitter) Emit(a Ask, _ *None) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != nil {
		e.last.Close()
	}
	var err error
	e.last, err = e.node.Accept(a.Stream, a.Key, func([]byte) {})
	return err
}

// Network is the child through which all datagrams go.
type Network struct {
	Clock
	mu   sync.Mutex
	ways []*way
}

// way carries the messages between an observer and one emitter.
type way struct {
	*faultproxy.Datagrams
	mu    sync.Mutex
	sight Sight
}

// A Sight counts the messages that an emitter has sent, before any loss.
type Sight struct {
	Stream uint32
	Beats  int // the number of beats, with those left out because the emitter was late
	Period time.Duration
}

func (w *way) see(_ faultproxy.Direction, packet []byte) {
	if len(packet) != adaptive.SealedSize {
		return
	}
	b, ok := adaptive.ParseBeat(packet[:adaptive.BodySize])
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sight = Sight{Stream: b.Stream, Beats: int(b.Seq) + 1, Period: time.Duration(b.Period)}
}

// A Route is a target of datagrams, and the weather on the way.
type Route struct {
	Target  string
	Seed    uint64
	Weather faultproxy.Weather
}

// A Way is the number of a route, and the address to send to.
type Way struct {
	ID   int
	Addr string
}

// Carry opens a way.
func (n *Network) Carry(r Route, reply *Way) error {
	w := &way{}
	d, err := faultproxy.NewDatagrams(r.Target, r.Seed, r.Weather, w.see)
	if err != nil {
		return err
	}
	w.Datagrams = d
	n.mu.Lock()
	defer n.mu.Unlock()
	*reply = Way{ID: len(n.ways), Addr: d.Addr()}
	n.ways = append(n.ways, w)
	return nil
}

func (n *Network) way(id int) *way {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ways[id]
}

// A Turn is another weather of one way.
type Turn struct {
	ID      int
	Weather faultproxy.Weather
}

// Change changes the weather, and returns the messages sent before.
func (n *Network) Change(t Turn, before *Sight) error {
	n.way(t.ID).Change(t.Weather)
	return n.Look(t.ID, before)
}

// Look returns the messages that an emitter has sent.
func (n *Network) Look(id int, s *Sight) error {
	w := n.way(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	*s = w.sight
	return nil
}

// End closes a way.
func (n *Network) End(id int, _ *None) error {
	n.way(id).Close()
	return nil
}

// child is a child process, for its parent.
type child struct {
	*rpc.Client
	cmd *exec.Cmd
}

func startChild(kind string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVar+"="+kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{Client: rpc.NewClient(pipes{out, in}), cmd: cmd}, nil
}

// call calls a method of the child.
func (c *child) call(method string, args, reply any) error {
	return c.Client.Call(childsName+"."+method, args, reply)
}

// end kills the child, stopped or not.
func (c *child) end() {
	_ = c.cmd.Process.Kill()
	_ = c.Client.Close()
	_ = c.cmd.Wait()
}
