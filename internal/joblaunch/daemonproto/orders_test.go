package daemonproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/protocol/job"
)

var examples = []Message{
	Hello{Node: 1, Pid: 7, Host: "a", Arch: "amd64", Build: buildid.Build, Cores: 2, Rack: "s0.s4"}, Plan{Procs: 8, Slots: []int{2, 5}},
	Ready{Addrs: []string{"127.0.0.1:1"}, Births: []uint64{1 << 63}}, Table{Addrs: []string{""}, Births: []uint64{3}, Nodes: []int{1}},
	Table{Addrs: []string{""}, Births: []uint64{3}, Nodes: []int{1}, Racks: []int{1, 0}, Absent: []int{2}, Late: true, Used: []int{1}},
	Welcome{Node: 2, Member: Member{Birth: 1, Addr: "a:1", Packets: "a:2"}, Slots: []int{4}, Addrs: []string{"a:3"}, Births: []uint64{5}}, Welcomed{2, "no memory"},
	Start{Proc: 3, Path: "/bin/true", Argv: []string{"true"}, Env: []string{"A=b"}, Info: json.RawMessage(`{}`)}, Go{},
	Begun{Why: "no room"}, Unwritten{Why: "no space"}, Started{Proc: 3, Pid: 9}, Input{Proc: 1, Data: []byte("x")}, Taken{1, 5, true}, Output{Proc: 1, Errs: true, Data: []byte("y\n")},
	Credit{7}, Announce{3}, Declare{Proc: 3, Lost: true}, Signal{-1, 2}, KillAll{}, Say{1, []byte("{}\n")}, Watch{2},
	WatchLife{5}, EndFenced{1<<16 | 1}, Census{}, Vacate{1<<16 | 4}, Holdings{[]job.Holding{{Slot: 4, By: []int{1}}}}, Vacated{1<<16 | 4, "no room"}, Settle{}, Die{}, Found{Proc: 1, By: job.ByTombstone, AtNs: 8}, Reaped{1, job.Status{Signal: 9, Name: "killed"}},
	Heard{2}, Said{1, []byte("{}\n")}, NoLife{1, 2}, Note{"event", "text"}, Notice{28}, Settled{}, Failed{"disk full"},
}

func TestThereAndBack(t *testing.T) {
	var all bytes.Buffer
	for _, m := range examples {
		line, err := Encode(m)
		require.NoError(t, err)
		all.Write(line)
	}
	r := NewReader(&all)
	for _, m := range examples {
		got, err := r.Next()
		require.NoError(t, err)
		assert.Equal(t, m, got)
	}
	_, err := r.Next()
	assert.ErrorIs(t, err, io.EOF)
}

func TestWhatIsNoOrder(t *testing.T) {
	for _, line := range []string{"x", `{"what":"sing","body":{}}`, `{"what":"announce","body":{"n":"x"}}`} {
		_, err := NewReader(strings.NewReader(line + "\n")).Next()
		assert.ErrorIs(t, err, ErrMessage, line)
	}
	_, err := NewReader(strings.NewReader(strings.Repeat("x", MaxBytes))).Next()
	assert.Error(t, err)
}

// TestHelloOfAnotherBuild: the launcher learns which node has another build, whatever the
// encoding of the other fields. A Hello from a version without build numbers has none.
func TestHelloOfAnotherBuild(t *testing.T) {
	for text, want := range map[string]Hello{
		`{"what":"hello","body":{"node":3,"build":7,"cores":"two","member":[]}}`:             {Node: 3, Build: 7},
		`{"v":1,"what":"hello","body":{"node":1,"pid":5,"version":"goulfm v0.3","cores":2}}`: {Node: 1},
	} {
		got, err := NewReader(strings.NewReader(text + "\n")).Next()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func FuzzNext(f *testing.F) {
	for _, m := range examples {
		line, err := Encode(m)
		require.NoError(f, err)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(bytes.NewReader(text))
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			line, err := Encode(m)
			if !errors.Is(err, ErrMessage) {
				require.NoError(t, err)
				again, err := NewReader(bytes.NewReader(line)).Next()
				require.NoError(t, err)
				twice, err := Encode(again) // a missing field and an empty one are the same
				require.NoError(t, err)
				assert.Equal(t, string(line), string(twice))
			}
		}
	})
}
