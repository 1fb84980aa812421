package daemon

import (
	"errors"
	"net"
	"sync"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/lifeline"
)

// listen tells the host what a process says over its lifeline, to the end of it. A program may
// write there what it likes: what is no message ends the lifeline, and with it the process,
// never the daemon.
func (d *Daemon) listen(p *process) {
	in := lifeline.FromRank(p.words, d.node.Procs())
	for {
		m, err := in.Next()
		if err == nil {
			err = d.host.Said(p.number, m)
		}
		switch {
		case errors.Is(err, lifeline.ErrMessage):
			d.host.Note("lifeline", "rank %d: %v over its lifeline: closed, which ends the rank", p.number, err)
			return
		case err != nil:
			return
		}
	}
}

// Say sends a message to a process, without a wait. One that does not read, since it is
// stopped, hears later what it must, and not more often than once what is asked again anyway.
func (d *Daemon) Say(proc int, m lifeline.Message) {
	line, err := lifeline.Encode(boot.NowNs(), m)
	d.mu.Lock()
	p := d.procs[proc]
	d.mu.Unlock()
	if err != nil || p == nil {
		return
	}
	again := false
	switch m.(type) {
	case lifeline.Prove, lifeline.Describe:
		again = true
	}
	p.line.say(line, again)
}

// A mouth writes to one lifeline. Who says something never waits for the process to read.
type mouth struct {
	conn    net.Conn
	mu      sync.Mutex
	lines   [][]byte // not written yet
	talking bool     // a goroutine writes
	deaf    bool     // the process is gone
}

func newMouth(conn net.Conn) *mouth { return &mouth{conn: conn} }

// say has a line written, after those before it. One that will be said again is left out while
// others wait.
func (m *mouth) say(line []byte, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deaf || again && m.talking {
		return
	}
	m.lines = append(m.lines, line)
	if !m.talking {
		m.talking = true
		go m.talk()
	}
}

// talk writes until nothing waits, or the process is gone.
func (m *mouth) talk() {
	for {
		m.mu.Lock()
		lines := m.lines
		m.lines = nil
		m.talking = len(lines) > 0
		m.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, line := range lines {
			if _, err := m.conn.Write(line); err != nil {
				m.mu.Lock()
				m.deaf, m.lines = true, nil
				m.mu.Unlock()
				return
			}
		}
	}
}
