// Package shm joins the processes of one node: the ring code of package
// transport over sealed memfds that the launcher made and every process
// inherited. It has no name in any file system, so nothing is left behind.
package shm

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/internal/transport"
)

// Open returns the end of process me: nodeFd is segment 0, arenaFds[p] the arena
// of process p. Arenas are mapped at first use.
func Open(me int, job uint64, nodeFd uintptr, arenaFds []uintptr) (*transport.Port, *segment.Node, error) {
	m, err := segment.Attach(nodeFd)
	if err != nil {
		return nil, nil, err
	}
	node, err := segment.OpenNode(m, job)
	if err != nil {
		return nil, nil, err
	}
	if node.Procs() != len(arenaFds) || me < 0 || me >= node.Procs() {
		return nil, nil, fmt.Errorf("shared memory of %d processes, %d arenas, this is process %d", node.Procs(), len(arenaFds), me)
	}
	p, err := transport.NewPort(transport.Home{Node: node, Sleeper: park.Futex{}, Arena: func(proc int) (*segment.Arena, error) {
		m, err := segment.Attach(arenaFds[proc])
		if err != nil {
			return nil, fmt.Errorf("arena of process %d: %w", proc, err)
		}
		return segment.OpenArena(m, node.Procs())
	}, Pid: node.Pid}, me)
	return p, node, err
}
