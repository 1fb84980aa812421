//go:build !linux

package boot

import (
	"context"
	"errors"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Process is a process that has joined its job. Outside of Linux there is none.
type Process struct {
	Info     Info
	End      transport.End
	Node     *segment.Node
	Nodes    []int
	OnFenced func(why string)
}

// CheckAlone returns nil: there is no launcher.
func CheckAlone() error { return nil }

// Join fails: goulfm run exists on Linux only.
func (i Info) Join() (*Process, error) {
	return nil, errors.New("several processes need Linux: here a program is a world of one")
}

// Say does nothing.
func (p *Process) Say(rankproto.Message) {}

// Note does nothing.
func (p *Process) Note(rankproto.Message) {}

// Flush does nothing.
func (p *Process) Flush() {}

// FlushOld does nothing.
func (p *Process) FlushOld() {}

// Beat does nothing.
func (p *Process) Beat() {}

// Kept fails.
func (p *Process) Kept() (rankproto.Keep, error) { return rankproto.Keep{}, errors.ErrUnsupported }

// Ask fails.
func (p *Process) Ask(context.Context, rankproto.Spawn, func(rankproto.Spawned)) (rankproto.Spawned, error) {
	return rankproto.Spawned{}, errors.ErrUnsupported
}

// Listen does nothing.
func (p *Process) Listen(func(), func([16]byte)) {}

var start = time.Now()

// NowNs reads a monotonic clock.
func NowNs() int64 { return int64(time.Since(start)) }
