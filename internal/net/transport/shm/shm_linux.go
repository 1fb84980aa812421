// Package shm connects the processes of one node: it uses the ring code of package transport over
// sealed memfds. The launcher makes the memfds and every process inherits them. They have no name
// in any file system, so a job leaves nothing behind.
package shm

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

// Open returns the port of process me. nodeFd is segment 0, and arenasFd is the memory of all
// arenas, one after the other. Open maps all arenas at once, which uses addresses and no memory. If
// an arena could not be mapped later, a living process would be unreachable.
func Open(me int, job uint64, nodeFd, arenasFd uintptr) (*transport.Port, *segment.Node, error) {
	return OpenWith(me, job, nodeFd, arenasFd, func(*segment.Node) (park.Sleeper, error) { return park.Futex{}, nil })
}

// OpenWith is Open of a process that sleeps with another Sleeper.
func OpenWith(me int, job uint64, nodeFd, arenasFd uintptr, sleeperOf func(*segment.Node) (park.Sleeper, error)) (*transport.Port, *segment.Node, error) {
	m, err := segment.Attach(nodeFd)
	if err != nil {
		return nil, nil, err
	}
	node, err := segment.OpenNode(m, job)
	if err != nil {
		return nil, nil, err
	}
	if me < 0 || me >= node.Started() {
		return nil, nil, fmt.Errorf("shared memory of %d processes, this is process %d", node.Started(), me)
	}
	stride := segment.ArenaStride(node.Procs())
	all, err := segment.AttachPart(arenasFd, 0, node.Procs()*stride)
	if err != nil {
		return nil, nil, addressesShort(node.Procs(), err)
	}
	sleeper, err := sleeperOf(node)
	if err != nil {
		return nil, nil, err
	}
	p, err := transport.NewPort(transport.Home{Node: node, Sleeper: sleeper, Arena: func(proc int) (*segment.Arena, error) {
		m := all.Part(proc*stride, stride)
		return segment.OpenArena(m, node.Procs())
	}, Pid: node.Pid}, me)
	return p, node, err
}

// addressesShort returns the error if the arenas of procs processes do not fit into the address
// space of this process. The error names the remedy.
func addressesShort(procs int, err error) error {
	if !errors.Is(err, unix.ENOMEM) {
		return fmt.Errorf("arenas of %d processes: %w", procs, err)
	}
	limit := "the kernel's limit"
	var lim unix.Rlimit
	if e := unix.Getrlimit(unix.RLIMIT_AS, &lim); e == nil && lim.Cur != unix.RLIM_INFINITY {
		limit = fmt.Sprintf("the %d MiB that this process may have", lim.Cur>>20)
	}
	return fmt.Errorf("arenas of %d processes take %d MiB of addresses, more than is left of %s: raise the limit (ulimit -v unlimited), or have fewer processes (goulfm run -n, --universe): %w",
		procs, segment.ArenasBytes(procs)>>20, limit, err)
}
