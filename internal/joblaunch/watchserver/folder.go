package watchserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A folder is PREFIX PID - RANDOM, with one socket in it.
const (
	prefix     = "goulfm-watch-"
	socketName = "socket"
	pathMax    = 107 // bytes of the path of a socket, by the kernel
)

// listen makes a folder that only this user may enter, and a socket in it.
func listen(dir string) (folder string, l net.Listener, err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	sweep(dir)
	folder, err = os.MkdirTemp(dir, prefix+strconv.Itoa(os.Getpid())+"-") // 0700
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(folder, socketName)
	if len(path) > pathMax {
		err = fmt.Errorf("%s: the path of a socket has at most %d bytes: set TMPDIR to a shorter one", path, pathMax)
	} else {
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		_ = os.RemoveAll(folder)
	}
	return folder, l, err
}

// sweep removes the folders of killed processes: those of this user whose pid no process has, and
// whose socket refuses connections. sweep checks both. A process that makes its folder at this
// moment does not listen yet, and in another container the pid may mean another process.
func sweep(dir string) {
	folders, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, folder := range folders {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), prefix), "-")
		pid, err := strconv.Atoi(number)
		if err != nil || pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		conn, err := net.Dial("unix", filepath.Join(folder, socketName))
		if err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.RemoveAll(folder)
		}
	}
}
