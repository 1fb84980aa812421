package boot

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// A process below goulfm run may have lost its means to join: a wrapper has cleared the
// environment or closed the descriptors. To find the daemon the process needs neither. The daemon
// is among its ancestors and listens at an abstract socket that is named after the daemon's pid:
//
//	daemon    listens at StrayAddress(its pid), starts the wrapper
//	wrapper   clears the environment, executes the program
//	program   Init: is nobody's rank. Asks each ancestor from its parent on; the first that listens is the daemon
//	daemon    the peer's pid is below a process that it has started, which has not joined: Stray
//	program   Init fails

// StrayAddress is the address at which the daemon with a pid answers strays.
func StrayAddress(pid int) *net.UnixAddr {
	return &net.UnixAddr{Name: fmt.Sprintf("@goulfm/%d", pid), Net: "unix"}
}

// A Standing is a daemon's answer.
type Standing byte

// The answers of a daemon.
const (
	Stray   Standing = 's' // a process that was to be a rank, and is not
	OfARank Standing = 'r' // started by a rank that has joined
)

// ancestorsMax bounds the number of ancestors that are asked, and strayWait the time that a
// daemon may take to answer.
const (
	ancestorsMax = 64
	strayWait    = 10 * time.Second
)

// standing asks the daemon below which this process was started; 0: there is none.
func standing() Standing {
	pid := os.Getppid()
	for range ancestorsMax {
		if s := ask(pid); s != 0 || pid <= 1 {
			return s
		}
		pid = ParentOf(pid)
	}
	return 0
}

func ask(pid int) Standing {
	conn, err := net.DialUnix("unix", nil, StrayAddress(pid))
	if err != nil {
		return 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(strayWait))
	var answer [1]byte
	if _, err := conn.Read(answer[:]); err != nil {
		return 0
	}
	return Standing(answer[0])
}

// ParentOf returns the parent of a process, or 0.
func ParentOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// "7 (a name) S 3 ...": the name may contain anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// CheckAlone returns an error if this process was to be a rank of a job and lacks the environment
// for that. Such a process must not continue as a single rank.
func CheckAlone() error {
	if standing() != Stray {
		return nil
	}
	return errors.New("goulfm run has started this process, and it cannot join its job: " + Variable + " is not set, so the environment was cleared on the way (env -i, sudo, a login shell): keep " + Variable + ", or set GOULFM_ALONE=1 for a program that is to run alone")
}

// remedy returns the advice for a program that has the environment of a rank without its
// descriptors.
func remedy() string {
	if standing() == Stray {
		return "a wrapper between goulfm run and this program has closed descriptors (sudo, closefrom, close_fds): it has to keep 3 and above"
	}
	return anothers
}
