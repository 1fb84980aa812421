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

// Open returns the end of process me: nodeFd is segment 0, arenasFd the memory of all
// arenas, one behind the other. Each is mapped at first use.
func Open(me int, job uint64, nodeFd, arenasFd uintptr) (*transport.Port, *segment.Node, error) {
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
	p, err := transport.NewPort(transport.Home{Node: node, Sleeper: park.Futex{}, Arena: func(proc int) (*segment.Arena, error) {
		m, err := segment.AttachPart(arenasFd, int64(proc)*int64(stride), stride)
		if err != nil {
			return nil, fmt.Errorf("arena of process %d: %w", proc, err)
		}
		return segment.OpenArena(m, node.Procs())
	}, Pid: node.Pid}, me)
	return p, node, err
}
