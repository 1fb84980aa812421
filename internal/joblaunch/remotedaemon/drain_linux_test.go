package remotedaemon

import (
	"bytes"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/socket"
)

// A written connection keeps the reports of a daemon.
type written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *written) Close() error { return nil }

// reports returns the reports up to now.
func (w *written) reports(t *testing.T) (all []daemonproto.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for in := daemonproto.NewReader(bytes.NewReader(w.buf.Bytes())); ; {
		m, err := in.Next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return all
		}
		all = append(all, m)
	}
}

// connection returns one to a launcher.
func connection(t *testing.T) *socket.Lasting {
	t.Helper()
	trust, err := socket.NewTrust(1, bytes.Repeat([]byte{1}, socket.SecretSize))
	require.NoError(t, err)
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var streams socket.Lastings
	go trust.Serve(l, 7, func(conn *socket.Conn) { streams.Admit(conn, func(*socket.Lasting) {}) })
	conn, err := trust.DialLasting(t.Context(), l.Addr().String(), 7)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestANodeIsTakenBack: SIGTERM is for this node alone if the launcher does not pass it on within
// two seconds. The launcher is notified then, and the ranks are killed two seconds before the
// engine kills the daemon.
func TestANodeIsTakenBack(t *testing.T) {
	for _, c := range []struct {
		name    string
		stopped time.Duration // when the launcher passes the signal on; 0: never
		told    bool
		killed  time.Duration
	}{
		{"the job is stopped", time.Second, false, 0},
		{"this node alone", 0, true, 28 * time.Second},
		{"the job is stopped later", 5 * time.Second, true, 0},
	} {
		host := newNodeDaemon()
		d, err := daemon.NewNode(host, 1, 0, &daemon.Neighbours{Slots: []int{0}})
		require.NoError(t, err, c.name)
		require.True(t, d.Expect(1))
		conn := connection(t)
		synctest.Test(t, func(t *testing.T) {
			o, out := newNodeDaemon(), &written{}
			o.d, o.mouth, o.conn, o.drain.grace = d, daemonproto.NewMouth(out), conn, 30*time.Second
			begun := time.Now()
			left := make(chan struct{})
			go func() {
				defer close(left)
				o.leaveJob()
			}()
			time.Sleep(stopFor - 1)
			synctest.Wait()
			assert.Empty(t, out.reports(t), c.name)
			if c.stopped > 0 {
				time.Sleep(max(0, c.stopped-time.Since(begun)))
				o.drain.hear(syscall.SIGTERM)
			}
			<-left
			synctest.Wait()
			if c.told {
				assert.Equal(t, []daemonproto.Message{daemonproto.Notice{AfterNs: int64(26 * time.Second)}}, out.reports(t), c.name)
			}
			assert.Equal(t, c.told, len(out.reports(t)) > 0, c.name)
			assert.Equal(t, c.killed > 0, o.drain.done.Load(), c.name)
			if c.killed > 0 {
				assert.Equal(t, c.killed, time.Since(begun), c.name)
				<-d.Halted()
			}
		})
		d.Close()
	}
}

// TestOutputWaitsForTheLauncher: no more than CreditBytes of the output of a node are on their way,
// and the rest follows as the launcher gives credit.
func TestOutputWaitsForTheLauncher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, out := newNodeDaemon(), &written{}
		o.mouth = daemonproto.NewMouth(out)
		sent := func() (n int) {
			synctest.Wait()
			for _, m := range out.reports(t) {
				n += len(m.(daemonproto.Output).Data)
			}
			return n
		}
		go (&output{o: o, proc: 3}).Write(make([]byte, CreditBytes+100))
		assert.Equal(t, CreditBytes, sent())
		o.command(daemonproto.Credit{Bytes: 60})
		assert.Equal(t, CreditBytes+60, sent())
		o.command(daemonproto.Credit{Bytes: CreditBytes})
		assert.Equal(t, CreditBytes+100, sent())
	})
}
