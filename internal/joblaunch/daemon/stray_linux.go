package daemon

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Unjoined is the event of a note about a process that was to be a rank and cannot join. The rules
// of the job are notified of it, too.
const Unjoined = "unjoined"

// ancestorsMax bounds the way from a stray to the process of which it descends.
const ancestorsMax = 64

// answerStrays answers processes below this daemon that are nobody's rank (see boot.CheckAlone),
// until Close. Where the address is taken such processes are not recognized.
func answerStrays(d *Daemon) {
	l, err := net.ListenUnix("unix", boot.StrayAddress(os.Getpid()))
	if err != nil {
		return
	}
	d.strays = l
	go func() {
		for {
			conn, err := l.AcceptUnix()
			if err != nil {
				return
			}
			strays{d}.answer(conn)
			conn.Close()
		}
	}()
}

// strays are the processes below a daemon that are nobody's rank.
type strays struct{ *Daemon }

// answer answers one. A process of another job, or of nobody, gets no answer: any program of the
// machine may connect.
func (s strays) answer(conn *net.UnixConn) {
	pid := peerOf(conn)
	below := s.ancestorOf(pid)
	if below == nil {
		return
	}
	answer := boot.OfARank
	if s.node.StateOf(below.slot) == segment.Absent {
		answer = boot.Stray
		s.host.Note(Unjoined, "process %d of rank %d calls Init and cannot join its job: its environment was cleared or its descriptors were closed on the way", pid, below.slot)
	}
	_, _ = conn.Write([]byte{byte(answer)})
}

// peerOf returns the pid of the process at the other end, or 0.
func peerOf(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// ancestorOf returns the process of this daemon of which another one descends, or nil. An orphan of
// a process is the daemon's own child, and has no such ancestor.
func (s strays) ancestorOf(pid int) *process {
	for range ancestorsMax {
		if pid <= 1 {
			return nil
		}
		s.mu.Lock()
		p := s.byPid[pid]
		s.mu.Unlock()
		if p != nil {
			return p
		}
		pid = boot.ParentOf(pid)
	}
	return nil
}
