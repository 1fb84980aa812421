package enginejob

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A coordinator is the part of the daemon of rank 0 that decides for all nodes, as goulfm run
// does for its jobs. It receives the introductions of the nodes, starts the job once all have
// come, and declares deaths. The world ends with the coordinator.
type coordinator struct {
	size   int
	within time.Duration

	mu       sync.Mutex
	register *register
	asking   []*asking // by introduction
	complete chan struct{}
	over     chan struct{} // closed when the job has ended, with code
	code     int
	standbys map[uint64]chan struct{}                      // by birth: standby daemons; closed: the daemon has received the end
	invite   func(name string) (bootstrap []byte, ok bool) // nil: the world admits no late daemons
	invited  map[uint64][]byte                             // by birth: the bootstraps of the admitted late daemons
	failed   error
	failing  chan struct{}

	own atomic.Pointer[daemon.Daemon] // the daemon of this node, once its ranks are adopted
}

// anyLeft reports whether a rank of this node is through Finalize.
func (h *coordinator) anyLeft() bool {
	d := h.own.Load()
	return d != nil && d.AnyLeft()
}

// An asking is a daemon that has introduced itself, with the reply for it. Each request of the
// daemon gets the same reply.
type asking struct {
	told      chan struct{} // closed: the reply is set
	bootstrap []byte
	err       error
}

// tell sets the reply, once.
func (a *asking) tell(bootstrap []byte, err error) {
	select {
	case <-a.told:
	default:
		a.bootstrap, a.err = bootstrap, err
		close(a.told)
	}
}

func newCoordinator(key string, size int, within time.Duration) *coordinator {
	return &coordinator{size: size, within: within, register: newRegister(key, size), complete: make(chan struct{}), over: make(chan struct{}), standbys: map[uint64]chan struct{}{}, invited: map[uint64][]byte{}, failing: make(chan struct{})}
}

// answer records a node, and returns its bootstrap once all have come.
func (h *coordinator) answer(line []byte) ([]byte, error) {
	in, err := decodeIntroduction(line)
	if err != nil {
		return nil, err
	}
	if h.isStandby(in) {
		return h.tellStandby(in)
	}
	return h.admit(in)
}

// admit is answer for an introduction.
func (h *coordinator) admit(in introduction) ([]byte, error) {
	a, err := h.enter(in)
	if err != nil {
		return nil, err
	}
	<-a.told
	return a.bootstrap, a.err
}

// enter records a node.
func (h *coordinator) enter(in introduction) (*asking, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed != nil {
		return nil, h.failed
	}
	i, err := h.register.enter(in)
	if err != nil {
		if !h.register.isComplete() {
			h.failLocked(err)
		}
		return nil, err
	}
	if i < len(h.asking) {
		return h.asking[i], nil
	}
	a := &asking{told: make(chan struct{})}
	h.asking = append(h.asking, a)
	if h.register.isComplete() {
		close(h.complete)
	}
	return a, nil
}

// fail ends the start for all.
func (h *coordinator) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failLocked(err)
}

func (h *coordinator) failLocked(err error) {
	if h.failed != nil {
		return
	}
	h.failed = err
	close(h.failing)
	for _, a := range h.asking {
		a.tell(nil, err)
	}
}

// run runs the job, from its start to its end.
func (h *coordinator) run(ctx context.Context, iface string) error {
	err := h.await(ctx)
	if err == nil {
		err = h.runJob(ctx, iface)
	}
	if err != nil {
		h.fail(err)
	}
	return err
}

// await waits until all nodes have come.
func (h *coordinator) await(ctx context.Context) error {
	select {
	case <-h.complete:
		return nil
	case <-h.failing:
		return h.failed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(h.within):
		h.mu.Lock()
		defer h.mu.Unlock()
		return errors.New(h.register.whoIsMissing(h.within.Round(time.Second).String()))
	}
}

// runJob starts the job on its nodes and returns when all processes have ended.
func (h *coordinator) runJob(ctx context.Context, iface string) error {
	nodes, of := h.register.order()
	cfg := daemonclient.Config{Nodes: of, Ranks: h.size, Starter: handOut{h, nodes}, Within: h.within, Iface: iface, Secure: socket.TLS}
	for _, i := range nodes {
		cfg.Names = append(cfg.Names, h.register.nodes[i].Host)
	}
	d := &host{ended: func(int) {}, isOver: h.anyLeft}
	d.Rules = job.New(job.Config{Ranks: h.size, Procs: h.size, Survive: job.SurviveKilled, Nodes: of})
	d.Mu.Lock() // until there is a daemonclient.Client for the decisions of the rules
	f, err := daemonclient.New(ctx, d, cfg)
	d.Daemon = f
	d.Mu.Unlock()
	if err != nil {
		return err
	}
	defer f.Close()
	for rank := range h.size {
		d.Apply(job.Forked{Proc: rank})
	}
	f.Adopt()
	f.Announce(h.size)
	if err := f.Begin(func() error { return nil }); err != nil {
		f.KillAll()
		return err
	}
	select {
	case <-f.Ended():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.EndLeftovers()
	return nil
}

// A handOut starts no daemons: it hands their bootstraps to daemons that have introduced
// themselves.
type handOut struct {
	h     *coordinator
	nodes []int // introductions, by node
}

// Start implements daemonclient.Starter.
func (s handOut) Start(node int, _ string, bootstrap []byte, _ func(error)) (end func(isLost bool), err error) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if s.h.failed != nil {
		return nil, s.h.failed
	}
	s.h.asking[s.nodes[node]].tell(bytes.TrimSpace(bootstrap), nil)
	return func(bool) {}, nil
}
