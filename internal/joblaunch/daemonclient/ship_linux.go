package daemonclient

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// A cargo is the program of the job, for nodes that do not have it.
type cargo struct {
	file    *os.File
	program daemonproto.Program
}

// partBytes is the size of a part of the program in one message.
const partBytes = 1 << 20

// load opens a program of this machine. Only a file that the kernel executes by itself is sent: a
// script needs its interpreter, which may differ there.
func load(path string) (*cargo, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	magic := make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err != nil || !bytes.Equal(magic, []byte("\x7fELF")) {
		return nil, f.Close()
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &cargo{f, daemonproto.Program{Path: everywhere(path), Bytes: n, Sum: sum.Sum(nil)}}, nil
}

// programFor returns the description of the program for a node; nil: the node uses its own file. A
// node of another architecture always does.
func (c *cargo) programFor(n *node) *daemonproto.Program {
	if c == nil || n.arch != runtime.GOOS+"/"+runtime.GOARCH {
		return nil
	}
	return &c.program
}

// ship sends the program to a node.
func (c *cargo) ship(n *node) error {
	for off := int64(0); off < c.program.Bytes; {
		part := make([]byte, min(partBytes, c.program.Bytes-off))
		if _, err := c.file.ReadAt(part, off); err != nil {
			return fmt.Errorf("send the program: %w", err)
		}
		n.mouth.Say(daemonproto.Part{Data: part})
		n.mouth.Flush() // no more in memory than a part for each node
		off += int64(len(part))
	}
	return nil
}

func (c *cargo) close() {
	if c != nil {
		c.file.Close()
	}
}
