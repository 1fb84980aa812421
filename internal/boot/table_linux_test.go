package boot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/transport/tcp"
)

func firstTable() Table {
	return Table{Secret: []byte("s"), Node: 1, Addrs: []string{"a:1", "", ""}, Births: []uint64{7, 0, 0}, Nodes: []int{0, 1, 1}}
}

// TestTableFile: a process finds seats whose node came before it has read, and after.
func TestTableFile(t *testing.T) {
	f, err := NewTableFile(firstTable())
	require.NoError(t, err)
	early, err := openTable(f.File())
	require.NoError(t, err)
	find := early.finder()
	_, known := find(1)
	assert.False(t, known)
	require.NoError(t, f.Add(Row{Seats: []int{1, 2}, Addrs: []string{"b:1", "b:2"}, Births: []uint64{8, 1 << 63}}))
	p, known := find(2)
	assert.Equal(t, tcp.Peer{Addr: "b:2", Birth: 1 << 63}, p)
	assert.True(t, known)

	late, err := openTable(f.File())
	require.NoError(t, err)
	assert.Equal(t, []tcp.Peer{{Addr: "a:1", Birth: 7}, {Addr: "b:1", Birth: 8}, {Addr: "b:2", Birth: 1 << 63}}, late.peers())
	assert.Nil(t, late.finder(), "nobody comes any more")
	_, err = f.File().WriteAt([]byte("x"), 0)
	assert.Error(t, err, "processes only read")
}

// TestHalfARow: what is not whole yet is read later.
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
	r, err := openTable(write(`{"addrs":["a:1",""],"births":[7,0],"nodes":[0,1]}` + "\n" + `{"seats":[1],"addrs":`))
	require.NoError(t, err)
	_, known := r.find(1)
	assert.False(t, known)
	write(`["b:1"],"births":[9]}` + "\n")
	p, known := r.find(1)
	assert.True(t, known)
	assert.Equal(t, tcp.Peer{Addr: "b:1", Birth: 9}, p)
}

// FuzzTable: whatever is there, a table that is taken has an entry for each seat.
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
		r, err := openTable(file)
		if err != nil {
			return
		}
		for seat := range r.peers() {
			_, _ = r.find(seat)
		}
		assert.Len(t, r.t.Births, len(r.t.Addrs))
	})
}
