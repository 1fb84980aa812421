package window

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFind: Find maps the same memory, which stays when the owner releases the Region.
func TestFind(t *testing.T) {
	a, err := Map(1000, false)
	require.NoError(t, err)
	assert.Len(t, a.Bytes(), 1000)
	b, err := Find(a.Offer())
	require.NoError(t, err)
	assert.Equal(t, a.Token(), b.Token())
	a.Bytes()[7] = 5
	assert.Equal(t, byte(5), b.Bytes()[7])
	b.Bytes()[999] = 6
	assert.Equal(t, byte(6), a.Bytes()[999])
	a.Retain().Release()
	a.Release()
	assert.Equal(t, byte(6), b.Bytes()[999])
	_, err = Find(a.Offer())
	assert.True(t, IsWithdrawn(err), "its owner has closed it: %v", err)
	b.Release()
}

// TestFindRefuses requires that Find refuses memory other than the offered.
func TestFindRefuses(t *testing.T) {
	a, err := Map(64, true)
	require.NoError(t, err)
	defer a.Release()
	b, err := Map(64, true)
	require.NoError(t, err)
	defer b.Release()
	good := a.Offer()
	for name, change := range map[string]func(o *Offer){
		"another token":          func(o *Offer) { o.Token[1]++ },
		"another region":         func(o *Offer) { o.Fd = b.Offer().Fd },
		"more than there is":     func(o *Offer) { o.Bytes += 8 },
		"less than there is":     func(o *Offer) { o.Bytes -= 8 },
		"nothing":                func(o *Offer) { o.Bytes = 0 },
		"no whole words":         func(o *Offer) { o.Bytes = 63 },
		"more than can be":       func(o *Offer) { o.Bytes = 1<<64 - 8 },
		"no such process":        func(o *Offer) { o.Pid = 1 << 40 },
		"no such descriptor":     func(o *Offer) { o.Fd = 1 << 20 },
		"a descriptor of a file": func(o *Offer) { o.Fd = uint64(openFile(t).Fd()) },
		"not sealed":             func(o *Offer) { o.Fd = uint64(unsealed(t)) },
	} {
		o := good
		change(&o)
		r, err := Find(o)
		assert.Error(t, err, name)
		assert.Nil(t, r, name)
	}
	r, err := Find(good)
	require.NoError(t, err)
	r.Release()
}

func openFile(t *testing.T) *os.File {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.Truncate(64+headBytes))
	return f
}

func unsealed(t *testing.T) int {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	require.NoError(t, unix.Ftruncate(fd, 64+headBytes))
	return fd
}

// TestNoRoom: an impossible size is an error, and causes no SIGBUS later.
func TestNoRoom(t *testing.T) {
	_, err := Map(1<<62, false)
	assert.Error(t, err)
}
