package daemon

import (
	"errors"
	"net"

	"github.com/goulfm/goulfm/internal/base/fifo"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// listen passes the messages that a process sends over its lifeline to the host, until the lifeline
// ends. A program may write any bytes there: malformed ones end the lifeline, and with it the
// process, never the daemon.
func (d *Daemon) listen(p *process) {
	in := rankproto.FromRank(p.words, d.node.Procs())
	for {
		m, err := in.Next()
		if err == nil {
			if pausepoint.Enabled {
				pausepoint.At("daemon.said")
			}
			err = d.host.Said(p.number, m)
		}
		switch {
		case errors.Is(err, rankproto.ErrMessage):
			d.host.Note("lifeline", "rank %d: %v over its lifeline: closed, which ends the rank", p.number, err)
			return
		case err != nil:
			return
		}
	}
}

// Say sends a message to a process, without a wait. A process that does not read, since it is
// stopped, receives the necessary messages later. Requests that are repeated anyway are queued at
// most once.
func (d *Daemon) Say(proc int, m rankproto.Message) {
	line, err := rankproto.Encode(boot.NowNs(), m)
	d.mu.Lock()
	p := d.procs.with(proc)
	if _, world := m.(rankproto.Keep); world && p != nil {
		p.spare = false
	}
	d.mu.Unlock()
	if err != nil || p == nil {
		return
	}
	again := false
	switch m.(type) {
	case rankproto.Prove, rankproto.Describe:
		again = true
	}
	if again {
		p.line.PostIfIdle(line)
	} else {
		p.line.Post(line)
	}
}

// newMouth returns the writer to a lifeline: a sender never waits for the process to read. Messages
// to a process that has ended are dropped.
func newMouth(conn net.Conn) *fifo.Box[[]byte] {
	return fifo.New(func(lines [][]byte) error {
		for _, line := range lines {
			if _, err := conn.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}
