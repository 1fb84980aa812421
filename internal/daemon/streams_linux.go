package daemon

import (
	"bytes"
	"io"
	"os"
)

// Lines take what a process prints: whole lines, so that processes never interleave inside of
// one. Calls come from one goroutine.
type Lines interface {
	Write(lines []byte)
	Close()
}

// lineMax is how long a line may get before a part of it is passed on as a line.
const lineMax = 1 << 20

// carry passes on what comes from a process's pipe. The caller holds mu.
func (d *Daemon) carry(from *os.File, to Lines) {
	s := stream{from}
	d.outputs[s] = true
	d.carriers.Go(func() {
		carryLines(s, to)
		d.mu.Lock()
		delete(d.outputs, s)
		d.mu.Unlock()
		from.Close()
		to.Close()
	})
}

// carryLines copies line by line, until the process and all its children have closed r.
func carryLines(r io.Reader, to Lines) {
	buf, pending := make([]byte, 32<<10), []byte(nil)
	for {
		n, err := r.Read(buf)
		pending = append(pending, buf[:n]...)
		if end := bytes.LastIndexByte(pending, '\n'); end >= 0 {
			to.Write(pending[:end+1])
			pending = append(pending[:0], pending[end+1:]...)
		}
		if len(pending) > lineMax || err != nil && len(pending) > 0 {
			to.Write(append(pending, '\n'))
			pending = pending[:0]
		}
		if err != nil {
			return
		}
	}
}
