package enginejob

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"golang.org/x/sys/unix"
)

// A guest is a connection that has made a claim.
type guest struct {
	conn  *net.UnixConn
	pid   int // 0: of another namespace of pids
	pidfd int // -1: handed on, with conn
	claim claim
}

// acceptPause is the pause in which no connection is accepted when no descriptor is free.
const acceptPause = 20 * time.Millisecond

// listen accepts connections, for as long as this process lives.
func (s *server) listen(ln *net.UnixListener) {
	for {
		conn, err := ln.AcceptUnix()
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		go func() {
			switch g, err := greet(conn); {
			case errors.Is(err, buildid.ErrAnother):
				conn.Close()
				s.events <- alien{g.claim.Rank}
			case err != nil || g == nil:
				conn.Close()
			case g.claim.Cards != nil:
				conn.Close()
				select {
				case s.cards <- g.claim.Cards: // the first ones; all ranks send the same
				default:
				}
			default:
				s.arrivals <- g
			}
		}()
	}
}

// greet reads the claim of a connection. A connection of another user is not read, and gets no
// answer: the name of a meeting place is no secret, and everybody may connect. The error is the
// fault of the claim; it Is buildid.ErrAnother for a rank of another build.
func greet(conn *net.UnixConn) (*guest, error) {
	cred, err := credOf(conn)
	if err != nil || int(cred.Uid) != os.Getuid() {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(claimMax))
	body, fds, err := receive(conn, claimMost)
	if err != nil {
		return nil, err
	}
	c, err := decodeClaim(body)
	if err == nil && c.Cards != nil {
		closeAll(fds)
		return &guest{conn: conn, pidfd: -1, claim: c}, nil
	}
	if err == nil && len(fds) != 1 {
		err = fmt.Errorf("%w: %d descriptors instead of a pidfd", errMessage, len(fds))
	}
	if err != nil {
		closeAll(fds)
		_ = send(conn, answer{Build: buildid.Build, What: refused, Why: err.Error()})
		return &guest{pidfd: -1, claim: c}, err
	}
	unix.CloseOnExec(fds[0])
	_ = conn.SetDeadline(time.Time{})
	return &guest{conn: conn, pid: int(cred.Pid), pidfd: fds[0], claim: c}, nil
}
