package enginejob

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/bootauth"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

// Enlist makes the daemons of a job that an engine has started meet, like the daemons of adopted
// ranks: the tasks of the engine are nodes. It returns nil if there are no other daemons.
func Enlist(ctx context.Context, within time.Duration) (e *Enlisted, err error) {
	task, err := rm.Recognise(os.Environ(), pmi.Alive)
	var session *pmi.Client
	if err == nil && task.Engine == rm.PMI && task.Size != 1 {
		task, session, err = askServer(ctx, task, within)
	}
	grace := time.Duration(0)
	if err == nil && task.Engine == rm.Kubernetes {
		beNode(&task)
		grace, err = graceOf(os.Getenv(graceVariable))
	}
	if err != nil || task.Engine == rm.Alone || task.Engine == rm.Goulfm || task.Size == 1 {
		return nil, err
	}
	defer func() { endSession(session, err) }()
	if task.Locals != 1 {
		return nil, fmt.Errorf("%s (%s): %d tasks on this node: start one goulfm daemon on each (srun --ntasks-per-node=1, mpiexec -ppn 1)", &task, task.Why, task.Locals)
	}
	s, err := severalHere(&task)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, within+time.Duration(coordinatorFirst))
	defer cancel()
	e, err = enlist(ctx, &claim{Build: buildid.Build, Key: task.Key, Rank: task.Rank, Size: task.Size, Several: s}, session, within)
	if e != nil {
		e.Grace = grace
		e.Late = max(task.NodesMax, 0)
	}
	return e, err
}

// beNode makes the claim of a pod that of a task, one on each node. A pod beyond GOULFM_NODES
// came when the Job was made larger; it waits on standby.
func beNode(pod *rm.Claim) {
	pod.Rank, pod.Size, pod.Local, pod.Locals = pod.Node, pod.Nodes, 0, 1
}

// enlist is Enlist for a task with others to meet. Claims call nodes ranks here.
func enlist(ctx context.Context, c *claim, session *pmi.Client, within time.Duration) (*Enlisted, error) {
	host, _ := os.Hostname()
	x, err := newCrossing(c, host, now().Add(mono.Duration(within)))
	if err != nil {
		return nil, err
	}
	x.add(&guest{claim: *c})
	var cs *cards
	if session != nil {
		if cs, err = exchangeCards(ctx, session, c, x.card(), true); err != nil {
			return nil, err
		}
	}
	proof, line, err := x.meetCoordinator(ctx, cs)
	switch {
	case err != nil:
		return nil, err
	case proof != nil:
		return x.enlistOthers(ctx, proof, within)
	}
	e := &Enlisted{Standby: func(ctx context.Context) ([]byte, int, error) { return x.standBy(ctx, cs) }}
	if decodeStandby(line) == nil {
		e.Bootstrap = line
	}
	return e, nil
}

// enlistOthers waits until all daemons have come. It answers their requests for as long as this
// process lives.
func (x *crossing) enlistOthers(ctx context.Context, proof bootauth.Proof, within time.Duration) (*Enlisted, error) {
	h := newCoordinator(x.claim.Key, x.claim.Size, within)
	h.register.areNodes = true
	serving, served := h.serve(x, proof)
	_, err := h.enter(x.introduction(""))
	if err == nil {
		err = h.await(ctx)
	}
	if err != nil {
		h.fail(err)
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	nodes, _ := h.register.order()
	e := &Enlisted{Starter: mixed{handOut{h, nodes}, daemonclient.Local{Goulfm: self}}, Iface: x.iface(), end: func(code int) { h.end(code, serving, served) }}
	for _, i := range nodes {
		e.Names = append(e.Names, h.register.nodes[i].Host)
	}
	return e, nil
}

// Opens implements daemonclient.Doorkeeper.
func (s mixed) Opens(invite func(name string) (bootstrap []byte, ok bool)) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.h.invite = invite
}

// A mixed starter starts the daemon of the first node beside this process, and hands the others
// the bootstraps that they have requested.
type mixed struct {
	handOut
	local daemonclient.Local
}

// Start implements daemonclient.Starter.
func (s mixed) Start(node int, name string, bootstrap []byte, failed func(error)) (end func(isLost bool), err error) {
	if node == 0 {
		return s.local.Start(node, name, bootstrap, failed)
	}
	return s.handOut.Start(node, name, bootstrap, failed)
}
