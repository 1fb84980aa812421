package daemonclient

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// feed passes on the input of a process, one piece at a time. A piece leaves the launcher's input
// once the process has read it: unread input stays for its next reader, such as the loop of a
// shell.
func (f *Client) feed(n *node, p *process, from *os.File) {
	in, err := newInput(from)
	if err != nil {
		n.mouth.Say(daemonproto.Input{Proc: p.number, End: true})
		return
	}
	defer in.close()
	for {
		data, err := in.peek()
		if len(data) > 0 {
			n.mouth.Say(daemonproto.Input{Proc: p.number, Data: bytes.Clone(data)})
			select {
			case t := <-p.taken:
				if in.skip(min(max(t.Bytes, 0), len(data))); t.Gone {
					return
				}
			case <-n.lost:
				return
			}
		}
		if err != nil {
			n.mouth.Say(daemonproto.Input{Proc: p.number, End: true})
			return
		}
	}
}

// An input is where a process of another node reads. Of a pipe and of a file peek takes nothing
// away.
type input struct {
	from   *os.File
	buf    []byte
	isFile bool
	copies *os.File // of the bytes in the pipe; nil: from is no pipe
	copy   *os.File // the other end
}

const inputMax = 32 << 10

// newInput takes a file over.
func newInput(from *os.File) (*input, error) {
	in := &input{from: from, buf: make([]byte, inputMax)}
	st, err := from.Stat()
	if err == nil && st.Mode()&os.ModeNamedPipe != 0 {
		in.copies, in.copy, err = os.Pipe()
	}
	if err != nil {
		from.Close()
		return nil, err
	}
	in.isFile = st.Mode().IsRegular()
	return in, nil
}

func (in *input) close() {
	for _, f := range []*os.File{in.from, in.copies, in.copy} {
		f.Close() // of nil: nothing
	}
}

// peek waits for input, and returns it; io.EOF: there is no more.
func (in *input) peek() ([]byte, error) {
	var n int
	var err error
	switch {
	case in.copies != nil:
		return in.peekPipe()
	case in.isFile:
		var at int64
		if at, err = in.from.Seek(0, io.SeekCurrent); err == nil {
			n, err = in.from.ReadAt(in.buf, at)
		}
	default:
		n, err = in.from.Read(in.buf)
	}
	return in.buf[:n], err
}

// peekPipe lets the kernel copy the bytes in the pipe.
func (in *input) peekPipe() ([]byte, error) {
	from, to := int(in.from.Fd()), int(in.copy.Fd())
	for {
		n, err := unix.Tee(from, to, inputMax, 0)
		switch {
		case errors.Is(err, unix.EAGAIN):
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(from), Events: unix.POLLIN}}, -1)
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return nil, io.EOF
		default:
			k, err := io.ReadFull(in.copies, in.buf[:n])
			return in.buf[:k], err
		}
	}
}

// skip removes the bytes that a process has read.
func (in *input) skip(n int) {
	switch {
	case in.copies != nil:
		_, _ = io.CopyN(io.Discard, in.from, int64(n))
	case in.isFile:
		_, _ = in.from.Seek(int64(n), io.SeekCurrent)
	}
}
