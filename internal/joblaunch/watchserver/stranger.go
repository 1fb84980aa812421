package watchserver

import (
	"fmt"
	"net"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/shm/pidfd"
)

// A stranger is a process outside the job that has registered to be watched.
type stranger struct {
	name    string
	process *pidfd.Handle
}

// register watches the process at the other end of a connection until that process ends.
func (p *Post) register(conn net.Conn, name string) error {
	process, pid, err := processOf(conn)
	if err != nil {
		return err
	}
	joined := watch.Event{What: watch.Joined, Name: name, Proc: watch.None, Node: watch.None, Evidence: fmt.Sprintf("pid %d", pid), AtNs: nowNs()}
	s := &stranger{name, process}
	if err := p.enter(s, joined); err != nil {
		process.Close()
		return err
	}
	p.serving.Go(func() { p.watch(s) })
	p.tellHost(joined)
	_ = conn.SetWriteDeadline(time.Now().Add(refuseFor))
	_, _ = conn.Write(encode(word(registered, "")))
	return nil
}

// enter adds a stranger to the tables, and reports it to all watchers.
func (p *Post) enter(s *stranger, joined watch.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
		return errOver
	case p.strangers[s.name] != nil:
		return fmt.Errorf("another process that lives has the name %q: take another one", s.name)
	case len(p.strangers) >= strangersMax:
		return fmt.Errorf("%d processes are watched already", strangersMax)
	}
	p.strangers[s.name] = s
	p.tell(joined)
	return nil
}

// watch waits for the end of a stranger, and reports it to all watchers.
func (p *Post) watch(s *stranger) {
	if !s.process.Wait() {
		return
	}
	end := endOf(s.process)
	end.Name, end.Proc, end.Node, end.AtNs = s.name, watch.None, watch.None, nowNs()
	p.mu.Lock()
	over := p.over
	delete(p.strangers, s.name)
	p.tell(end)
	p.mu.Unlock()
	s.process.Close()
	if !over {
		p.tellHost(end)
	}
}

func (p *Post) tellHost(e watch.Event) {
	if p.told != nil {
		p.told(e)
	}
}
