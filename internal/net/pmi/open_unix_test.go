//go:build unix

package pmi

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pair returns a connected pair of sockets, like the one that an engine makes for a task.
func pair(t *testing.T) (task int, engine *os.File) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	engine = os.NewFile(uintptr(fds[1]), "engine")
	t.Cleanup(func() { engine.Close() })
	return fds[0], engine
}

// TestAlive: a socket is alive as long as its other end is open or bytes are unread; other
// descriptors are not.
func TestAlive(t *testing.T) {
	fd, engine := pair(t)
	defer unix.Close(fd)
	assert.True(t, Alive(fd))
	_, err := engine.WriteString("cmd=x\n")
	require.NoError(t, err)
	assert.True(t, Alive(fd))
	engine.Close()
	assert.True(t, Alive(fd), "what has come can still be read")
	buf := make([]byte, 100)
	n, err := unix.Read(fd, buf)
	require.NoError(t, err)
	assert.Equal(t, "cmd=x\n", string(buf[:n]), "nothing was taken")
	assert.False(t, Alive(fd))

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	assert.False(t, Alive(int(r.Fd())), "a pipe")
	packets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	require.NoError(t, err)
	defer unix.Close(packets[0])
	defer unix.Close(packets[1])
	assert.False(t, Alive(packets[0]), "a socket of packets")
	l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer unix.Close(l)
	assert.False(t, Alive(l), "a socket without a peer")
	assert.False(t, Alive(-1))
	assert.False(t, Alive(1<<19))
}

// TestOpenDescriptor: a session over an inherited socket, which no child inherits, and whose
// number is free afterwards.
func TestOpenDescriptor(t *testing.T) {
	fd, engine := pair(t)
	conn, err := net.FileConn(engine)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer conn.Close()
		serve(t, conn, answers(slurm...))
	}()
	c, err := Open(t.Context(), Server{FD: fd})
	require.NoError(t, err)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	assert.ErrorIs(t, err, unix.EBADF, "its number means nothing now")
	raw, err := c.conn.(*net.UnixConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
		assert.NoError(t, err)
		assert.NotZero(t, flags&unix.FD_CLOEXEC)
	}))
	session(t.Context(), t, c)
	<-done
}

// TestOpenPort: a session over TCP, which begins with initack.
func TestOpenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if assert.NoError(t, err) {
			defer conn.Close()
			ack := step{want: "cmd=initack pmiid=3", send: []string{"cmd=initack\n", "cmd=set size=4\ncmd=set rank=3\n", "cmd=set debug=0\n"}}
			serve(t, conn, append([]step{ack}, answers(slurm...)...))
		}
	}()
	c, err := Open(t.Context(), Server{FD: Unknown, Port: l.Addr().String(), ID: "3"})
	require.NoError(t, err)
	session(t.Context(), t, c)
	<-done
	l.Close()
	_, err = Open(t.Context(), Server{FD: Unknown, Port: l.Addr().String(), ID: "3"})
	assert.ErrorContains(t, err, "is mpiexec still there, and its host reachable from this one?")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, Server{FD: Unknown, Port: l.Addr().String(), ID: "3"})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestOpenBadDescriptor(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	fd, err := unix.Dup(int(f.Fd()))
	require.NoError(t, err)
	f.Close()
	for _, bad := range []int{fd, 1 << 19, -5} {
		_, err := Open(t.Context(), Server{FD: bad})
		assert.ErrorContains(t, err, "PMI open: PMI_FD=")
		assert.ErrorContains(t, err, foreign)
	}
}

func TestFind(t *testing.T) {
	seven := func(fd int) bool { return fd == 7 || fd < 0 }
	port := []string{"PMI_PORT=n2:1", "PMI_ID=3"}
	for _, c := range []struct {
		env  []string
		want Server
		ok   bool
	}{
		{append([]string{"PMI_FD=7", "PMI_FD=8"}, port...), Server{FD: 7}, true},
		{append([]string{"PMI_FD=8", "PMI_FD=7"}, port...), Server{Unknown, "n2:1", "3"}, true},
		{append([]string{"PMI_FD=x"}, port...), Server{Unknown, "n2:1", "3"}, true},
		{append([]string{"PMI_FD=-7"}, port...), Server{Unknown, "n2:1", "3"}, true},
		{port[:1], Server{Unknown, "n2:1", ""}, false},
		{[]string{"PMI_PORT=n2:1", "PMI_ID=a b"}, Server{Unknown, "n2:1", "a b"}, false},
		{[]string{"PMI_FD=8"}, Server{FD: Unknown}, false},
		{nil, Server{FD: Unknown}, false},
	} {
		s, ok := Find(append([]string{"PMI_RANK=0", "PMI_SIZE=1"}, c.env...), seven)
		assert.Equal(t, c.want, s)
		assert.Equal(t, c.ok, ok)
	}
	for _, rank := range []string{"PMI_RANK=0", "PMI_SIZE=1"} {
		s, _ := Find(append(port, "PMI_FD=7", rank), seven)
		assert.Equal(t, Unknown, s.FD, "only %s", rank)
	}
}
