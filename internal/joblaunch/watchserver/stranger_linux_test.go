package watchserver

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asStranger makes the test binary a program that registers, and ends as its name requests.
const asStranger = "WATCHPOST_TEST_STRANGER"

func TestMain(m *testing.M) {
	if name := os.Getenv(asStranger); name != "" {
		beStranger(name)
	}
	os.Exit(m.Run())
}

func beStranger(name string) {
	w, err := watch.Open(context.Background())
	if err == nil {
		err = w.Register(name)
		_ = w.Close()
	}
	if err != nil {
		os.Stdout.WriteString(err.Error())
		os.Exit(1)
	}
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the test closes it
	if strings.HasPrefix(name, "failing") {
		os.Exit(3)
	}
	os.Exit(0)
}

// TestStrangers: a program outside the job is present for all watchers once it has registered.
// The watchers receive its end once, with the cause, whatever its parent is and whatever happens
// to its connections. After that its name is free.
func TestStrangers(t *testing.T) {
	var toldHost []string
	told := make(chan watch.Event, 100)
	p := newPost(t, func(e watch.Event) { told <- e })
	for _, c := range []struct {
		name string
		end  func(cmd *exec.Cmd)
		want []string
	}{
		{"indexer", func(cmd *exec.Cmd) { _ = cmd.Process.Kill() }, []string{watch.Died, "killed (SIGKILL)"}},
		{"indexer", func(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }, []string{watch.Died, "killed by terminated"}},
		{"failing", nil, []string{watch.Died, "exit code 3"}},
		{"fine", nil, []string{watch.Left, "exit code 0"}},
	} {
		w := open(t, p)
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), asStranger+"="+c.name, watch.Variable+"="+p.Path())
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var got []string
		for e, err := range w.Events() {
			require.NoError(t, err)
			if e.Name != c.name {
				continue
			}
			assert.Equal(t, watch.None, e.Proc)
			assert.Equal(t, watch.None, e.Node)
			if e.What == watch.Joined {
				if c.end != nil {
					c.end(cmd)
				} else {
					stdin.Close()
				}
				_ = cmd.Wait() // reaped: the kernel reports how it has ended
				continue
			}
			got = []string{e.What, e.Evidence}
			break
		}
		if got[1] == "ended, and nobody can tell how" { // a kernel before 6.15
			c.want = []string{watch.Died, got[1]}
		}
		assert.Equal(t, c.want, got)
		joined, ended := <-told, <-told
		toldHost = append(toldHost, joined.What, ended.What)
		require.NoError(t, w.Close())
	}
	assert.Equal(t, []string{watch.Joined, watch.Died, watch.Joined, watch.Died, watch.Joined, watch.Died, watch.Joined, watch.Left}, toldHost)
	p.Close()
}
