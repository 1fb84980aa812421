package boot

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/transport/tcp"
)

func firstTable() Table {
	return Table{Secret: []byte("s"), Node: 1, Addrs: []string{"a:1", "", ""}, Births: []uint64{7, 0, 0}, Nodes: []int{0, 1, 1}}
}

// copyOf returns a descriptor of a file, like the one that a process inherits.
func copyOf(t *testing.T, f *os.File) int {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	return fd
}

// TestTablesThatAreNone: each fault of the table has its own text and remedy.
func TestTablesThatAreNone(t *testing.T) {
	closed := copyOf(t, os.Stderr)
	require.NoError(t, unix.Close(closed))
	_, err := openTable(closed)
	assert.EqualError(t, err, fmt.Sprintf("descriptor %d, the table of the job's processes, is closed: %s", closed, passOn))

	pipe, _, err := os.Pipe()
	require.NoError(t, err)
	_, err = openTable(copyOf(t, pipe))
	assert.Regexp(t, `^descriptor \d+ is not the table of the job's processes: .*illegal seek: `+anothers+`$`, err)

	for text, want := range map[string]string{
		"":              `^descriptor \d+ is not the table of the job's processes: it is empty: ` + anothers + `$`,
		"{}":            `^descriptor \d+ is not the table of the job's processes: it is empty: ` + anothers + `$`, // a line without its end
		"x\n":           `^descriptor \d+, the table of the job's processes: invalid character .*: ` + ours + `$`,
		"{\"nodes\":7}": `is empty`,
		`{"addrs":["a:1"],"births":[],"nodes":[0]}` + "\n":                                 `: table of 1 addresses, 0 births, 1 nodes for 1 slots: ` + ours + `$`,
		`{"addrs":["a:1"],"births":[7],"nodes":[0]}` + "\n" + `{"seats":[1]}` + "\n":       `: row of slots .1. of 1, with 0 addresses and 0 births: ` + ours + `$`,
		`{"addrs":["a:1"],"births":[7],"nodes":[0]}` + "\n" + `{"seats":["first"]}` + "\n": `: json: cannot unmarshal string .*: ` + ours + `$`,
	} {
		path := filepath.Join(t.TempDir(), "table")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		f, err := os.Open(path)
		require.NoError(t, err)
		_, err = openTable(copyOf(t, f))
		assert.Regexp(t, want, err, text)
		f.Close()
	}
}

// TestListenersThatAreNone: a closed descriptor, a file and a socket of another kind are errors.
func TestListenersThatAreNone(t *testing.T) {
	closed := copyOf(t, os.Stderr)
	require.NoError(t, unix.Close(closed))
	_, err := takeListener(closed)
	assert.ErrorContains(t, err, "the socket on which this process listens, is closed: "+passOn)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	_, err = takeListener(copyOf(t, null))
	assert.ErrorContains(t, err, "is not the socket on which this process listens: ")
	local, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	f, err := local.(*net.UnixListener).File()
	require.NoError(t, err)
	_, err = takeListener(copyOf(t, f))
	assert.ErrorContains(t, err, "is not the socket on which this process listens: ")
}

// TestTableFile: a process finds slots of nodes that came before the process has read, and after.
func TestTableFile(t *testing.T) {
	f, err := NewTableFile(firstTable())
	require.NoError(t, err)
	early, err := openTable(copyOf(t, f.File()))
	require.NoError(t, err)
	find := early.finder()
	_, known := find(1)
	assert.False(t, known)
	require.NoError(t, f.Add(Row{Slots: []int{1, 2}, Addrs: []string{"b:1", "b:2"}, Births: []uint64{8, 1 << 63}}))
	p, known := find(2)
	assert.Equal(t, tcp.Peer{Addr: "b:2", Birth: 1 << 63}, p)
	assert.True(t, known)

	late, err := openTable(copyOf(t, f.File()))
	require.NoError(t, err)
	assert.Equal(t, []tcp.Peer{{Addr: "a:1", Birth: 7}, {Addr: "b:1", Birth: 8}, {Addr: "b:2", Birth: 1 << 63}}, late.peers())
	assert.Nil(t, late.finder(), "nobody comes any more")
	_, err = f.File().WriteAt([]byte("x"), 0)
	assert.Error(t, err, "processes only read")
}

// TestHalfARow: a row that is not whole yet is read later.
func TestHalfARow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	write := func(text string) *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		_, err = f.WriteString(text)
		require.NoError(t, err)
		return f
	}
	r, err := openTable(copyOf(t, write(`{"addrs":["a:1",""],"births":[7,0],"nodes":[0,1]}`+"\n"+`{"seats":[1],"addrs":`)))
	require.NoError(t, err)
	_, known := r.find(1)
	assert.False(t, known)
	write(`["b:1"],"births":[9]}` + "\n")
	p, known := r.find(1)
	assert.True(t, known)
	assert.Equal(t, tcp.Peer{Addr: "b:1", Birth: 9}, p)
}

// FuzzTable: an accepted table has an entry for each slot, whatever the file holds.
func FuzzTable(f *testing.F) {
	for _, text := range []string{"", "\n", `{"addrs":[""],"births":[0],"nodes":[0]}` + "\n" + `{"seats":[0],"addrs":["x"],"births":[1]}` + "\n", `{"addrs":[""],"births":[0],"nodes":[0]}` + "\n" + `{"seats":[1],"addrs":["x"],"births":[1]}` + "\n"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "table")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		r, err := openTable(copyOf(t, file))
		if err != nil {
			return
		}
		for slot := range r.peers() {
			_, _ = r.find(slot)
		}
		assert.Len(t, r.t.Births, len(r.t.Addrs))
	})
}
