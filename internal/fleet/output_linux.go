package fleet

import (
	"bytes"
	"io"
	"sync"

	"github.com/goulfm/goulfm/internal/daemon"
	"github.com/goulfm/goulfm/internal/postbox"
)

// An outlet passes on what one stream of a process brings: pieces come in, whole lines go out.
// Who writes where nobody reads waits here, and not where orders are read.
type outlet struct {
	to      daemon.Lines
	writers *sync.WaitGroup // those of all streams that are not at their end
	pieces  *postbox.Box[piece]
	pending []byte // of a line that has not ended
	once    sync.Once
}

// A piece is what a process has printed; written is called once it is passed on, or kept as a part
// of a line.
type piece struct {
	data    []byte
	written func()
	end     bool // there is no more
}

func newOutlet(to daemon.Lines, writers *sync.WaitGroup) *outlet {
	o := &outlet{to: to, writers: writers}
	o.pieces = postbox.New(func(pieces []piece) error {
		for _, p := range pieces {
			if p.end {
				o.close()
				return io.EOF // what comes now is nobody's
			}
			o.pass(p)
		}
		return nil
	})
	writers.Add(1)
	return o
}

// add takes a piece.
func (o *outlet) add(data []byte, written func()) { o.pieces.Post(piece{data: data, written: written}) }

// end says that there is no more.
func (o *outlet) end() { o.once.Do(func() { o.pieces.Post(piece{end: true}) }) }

// pass writes the whole lines that there are.
func (o *outlet) pass(p piece) {
	o.pending = append(o.pending, p.data...)
	if end := bytes.LastIndexByte(o.pending, '\n'); end >= 0 {
		o.to.Write(o.pending[:end+1])
		o.pending = append(o.pending[:0], o.pending[end+1:]...)
	}
	p.written()
}

// close writes what is left.
func (o *outlet) close() {
	if len(o.pending) > 0 {
		o.to.Write(append(o.pending, '\n'))
	}
	o.to.Close()
	o.writers.Done()
}
