package fleet

import (
	"bytes"
	"sync"

	"github.com/goulfm/goulfm/internal/daemon"
)

// An outlet passes on what one stream of a process brings: pieces come in, whole lines go out.
// Who writes where nobody reads waits here, and not where orders are read.
type outlet struct {
	to      daemon.Lines
	mu      sync.Mutex
	queue   []piece
	writing bool
	pending []byte // of a line that has not ended
	ended   bool   // no piece is taken any more
	done    chan struct{}
}

type piece struct {
	data    []byte
	end     bool
	written func()
}

func newOutlet(to daemon.Lines) *outlet { return &outlet{to: to, done: make(chan struct{})} }

// add takes a piece; written, if not nil, is called once it is passed on, or kept as a part of a
// line.
func (o *outlet) add(data []byte, end bool, written func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = end
	o.queue = append(o.queue, piece{data, end, written})
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

func (o *outlet) write() {
	for {
		o.mu.Lock()
		queue := o.queue
		o.queue = nil
		o.writing = len(queue) > 0
		o.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, p := range queue {
			o.pass(p)
		}
	}
}

// pass writes the whole lines that there are, and at the end what is left.
func (o *outlet) pass(p piece) {
	o.pending = append(o.pending, p.data...)
	if end := bytes.LastIndexByte(o.pending, '\n'); end >= 0 {
		o.to.Write(o.pending[:end+1])
		o.pending = append(o.pending[:0], o.pending[end+1:]...)
	}
	if p.end {
		if len(o.pending) > 0 {
			o.to.Write(append(o.pending, '\n'))
		}
		o.to.Close()
		close(o.done)
	}
	if p.written != nil {
		p.written()
	}
}
