package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Server is the location of a PMI server, according to the environment.
type Server struct {
	FD   int    // inherited socket, of PMI_FD; Unknown: there is none, and Port holds
	Port string // host:port, of PMI_PORT
	ID   string // number of this task for the server at Port, of PMI_ID
}

// Find returns the server of an environment in the form of os.Environ. That is the server at
// PMI_FD if alive reports a peer there and PMI_RANK and PMI_SIZE are set, otherwise the server at
// PMI_PORT. ok is false without a server. Of repeated variables the first counts.
func Find(env []string, alive func(fd int) bool) (s Server, ok bool) {
	told := first(env, "PMI_RANK") != "" && first(env, "PMI_SIZE") != "" // a server at PMI_FD does not report them
	if fd, err := strconv.Atoi(first(env, "PMI_FD")); told && err == nil && fd >= 0 && alive(fd) {
		return Server{FD: fd}, true
	}
	s = Server{FD: Unknown, Port: first(env, "PMI_PORT"), ID: first(env, "PMI_ID")}
	return s, s.Port != "" && graphic(s.ID)
}

func first(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Open connects to a server. It takes over an inherited descriptor and closes it. From then on
// the number may mean another file, so PMI_FD has to be removed from the environment. Children of
// this process do not inherit the connection.
func Open(ctx context.Context, s Server) (*Client, error) {
	if s.FD != Unknown {
		conn, err := inherit(s.FD)
		if err != nil {
			return nil, &Error{"open", fmt.Errorf("PMI_FD=%d: %w", s.FD, err), foreign}
		}
		return New(conn), nil
	}
	dialer := net.Dialer{Timeout: RequestTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.Port)
	if err != nil {
		return nil, &Error{"open", fmt.Errorf("PMI_PORT=%s: %w", s.Port, err), "is mpiexec still there, and its host reachable from this one?"}
	}
	c := New(conn)
	c.id = s.ID
	return c, nil
}

// inherit makes a connection of a descriptor: deadlines work, and exec closes it.
func inherit(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "PMI_FD")
	if f == nil {
		return nil, syscall.EBADF
	}
	defer f.Close()
	return net.FileConn(f)
}

// gone reports whether an error is that of a peer which has closed.
func gone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe)
}
