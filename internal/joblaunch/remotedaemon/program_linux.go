package remotedaemon

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"golang.org/x/sys/unix"
)

// A program is that of the job where this node has no file that is the same: it comes from the
// launcher and lies in memory.
type program struct {
	want daemonproto.Program
	file *os.File // nil: this node has it
	sum  hash.Hash
	got  int64
}

// programMax bounds a program, in bytes.
const programMax = 1 << 30

// newProgram checks whether this node has a program, and otherwise prepares to receive it.
func newProgram(want daemonproto.Program) (p *program, err error) {
	p = &program{want: want, sum: sha256.New()}
	switch {
	case want.Bytes <= 0 || want.Bytes > programMax:
		return nil, fmt.Errorf("a program of %d bytes: at most %d", want.Bytes, programMax)
	case isHere(want):
		return p, nil
	}
	fd, err := unix.MemfdCreate("goulfm-program", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memory for the program: %w", err)
	}
	p.file = os.NewFile(uintptr(fd), want.Path)
	return p, nil
}

// isHere reports whether the file of that name is that program. Below /proc it is one of the
// launcher's.
func isHere(want daemonproto.Program) bool {
	if strings.HasPrefix(want.Path, "/proc/") {
		return false
	}
	f, err := os.Open(want.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() != want.Bytes || st.Mode()&0o111 == 0 {
		return false
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && bytes.Equal(sum.Sum(nil), want.Sum)
}

// lacks reports whether the program is still to come.
func (p *program) lacks() bool { return p != nil && p.file != nil && p.got < p.want.Bytes }

// add takes the next part of it.
func (p *program) add(part []byte) error {
	if !p.lacks() || int64(len(part)) > p.want.Bytes-p.got {
		return errors.New("a part of a program that nobody waits for")
	}
	if _, err := p.file.Write(part); err != nil {
		return fmt.Errorf("memory for the program: %w", err)
	}
	p.got += int64(len(part))
	_, _ = p.sum.Write(part) // a hash takes all
	if p.lacks() {
		return nil
	}
	return p.finish()
}

// finish has the program executed from memory. While it is open for writing the kernel executes no
// file.
func (p *program) finish() error {
	if !bytes.Equal(p.sum.Sum(nil), p.want.Sum) {
		return errors.New("the program that has come is not that of the launcher: it was changed during the start")
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(p.file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal the program: %w", err)
	}
	read, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", p.file.Fd()))
	if err != nil {
		return fmt.Errorf("open the program: %w", err)
	}
	defer read.Close()
	p.file.Close()
	fd, err := unix.FcntlInt(read.Fd(), unix.F_DUPFD_CLOEXEC, daemon.ClearOfProcesses)
	if err != nil {
		return fmt.Errorf("open the program: %w", err)
	}
	p.file = os.NewFile(uintptr(fd), p.want.Path)
	return nil
}

// path returns the path to execute for a path of the launcher's.
func (p *program) path(path string) string {
	if p == nil || p.file == nil || path != p.want.Path {
		return path
	}
	return fmt.Sprintf("/proc/self/fd/%d", p.file.Fd())
}
