package daemon

import "os"

// A Sink takes one output stream of a process, in pieces as the process wrote them. Calls come from
// one goroutine.
type Sink interface {
	Write(piece []byte)
	Close()
}

// carry passes on the output in a process's pipe, until the process and all its children have
// closed the pipe. The caller holds mu.
func (d *Daemon) carry(from *os.File, to Sink) {
	s := stream{from}
	d.outputs[s] = true
	d.carriers.Go(func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := s.Read(buf)
			if n > 0 {
				to.Write(buf[:n])
			}
			if err != nil {
				break
			}
		}
		d.mu.Lock()
		delete(d.outputs, s)
		d.mu.Unlock()
		from.Close()
		to.Close()
	})
}
