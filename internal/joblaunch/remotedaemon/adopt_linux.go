package remotedaemon

import (
	"cmp"
	"context"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// Guests are the processes of a node that a job engine has started: the daemon adopts them in place
// of starting its own.
type Guests interface {
	// Adopt has d adopt all of them, and returns their pids by slot; 0: unknown here.
	Adopt(d *daemon.Daemon) (pids map[int]int, err error)
	// Place gives each its place: all daemons are ready, of so many nodes. crowd is that of
	// daemonproto.Table.
	Place(d *daemon.Daemon, n *daemon.Neighbours, nodes, crowd int) error
}

// Adopted is Run for a daemon that has its bootstrap already, with guests as its processes. When
// ctx ends the daemon leaves the job, which loses its node then.
func Adopted(ctx context.Context, boot daemonproto.Bootstrap, g Guests) (int, error) {
	o := newNodeDaemon()
	o.boot, o.guests = boot, g
	return o.run(ctx)
}

// adopt adopts the guests, has their deaths found, and lets them continue.
func (o *nodeDaemon) adopt() error {
	pids, err := o.guests.Adopt(o.d)
	if err != nil {
		return err
	}
	for _, slot := range o.plan.Slots {
		o.mouth.Say(daemonproto.Started{Proc: slot, Pid: cmp.Or(pids[slot], unknownPid)})
		o.d.Watch(slot, 1)
	}
	return o.guests.Place(o.d, o.neighbours, o.nodes, o.crowd)
}

// unknownPid stands for the pid of a process of another namespace of pids: 0 is one that was not
// started.
const unknownPid = -1
