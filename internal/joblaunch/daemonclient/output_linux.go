package daemonclient

import (
	"io"
	"sync"

	"github.com/goulfm/goulfm/internal/base/fifo"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
)

// An outlet passes on one output stream of a process. A writer without a reader waits here, and not
// where messages of daemons are read.
type outlet struct {
	to      daemon.Sink
	writers *sync.WaitGroup // those of all streams that are not at their end
	pieces  *fifo.Box[piece]
	once    sync.Once
}

// A piece is some output of a process; written is called once it is passed on.
type piece struct {
	data    []byte
	written func()
	end     bool // there is no more
}

func newOutlet(to daemon.Sink, writers *sync.WaitGroup) *outlet {
	o := &outlet{to: to, writers: writers}
	o.pieces = fifo.New(func(pieces []piece) error {
		for _, p := range pieces {
			if p.end {
				o.close()
				return io.EOF // later output is dropped
			}
			o.to.Write(p.data)
			p.written()
		}
		return nil
	})
	writers.Add(1)
	return o
}

// add takes a piece.
func (o *outlet) add(data []byte, written func()) { o.pieces.Post(piece{data: data, written: written}) }

// end marks the end of the output.
func (o *outlet) end() { o.once.Do(func() { o.pieces.Post(piece{end: true}) }) }

func (o *outlet) close() {
	o.to.Close()
	o.writers.Done()
}
