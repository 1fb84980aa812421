package rankstore

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// versionOf returns the same data in every process. Most of them equal the data of the version
// before.
func versionOf(n uint64) []Part {
	data := make([]byte, 40*chunkBytes+int(n%3))
	for i := range 4 {
		binary.LittleEndian.PutUint64(data[(int(n)+7*i)%40*chunkBytes:], n)
	}
	return []Part{{Name: "data", Data: data}, {Name: "number", Data: binary.LittleEndian.AppendUint64(nil, n)}}
}

// TestMain runs the tests, or, in a child of TestKilled, writes versions until it is killed.
func TestMain(m *testing.M) {
	if os.Getenv("KEEP_TEST_PROC") == "" {
		os.Exit(m.Run())
	}
	memory, err := Open(os.NewFile(3, "keep"))
	if err != nil {
		panic(err)
	}
	h, first := memory.Home(0), uint64(1)
	if labels, _ := h.Labels(); len(labels) > 0 {
		first = labels[len(labels)-1].Number + 1
	}
	if err := h.Claim(len(os.Getenv("KEEP_TEST_PROC"))); err != nil {
		panic(err)
	}
	for n := first; ; n++ {
		if err := h.Write(Label{Number: n}, versionOf(n)); err != nil {
			panic(err)
		}
		if err := h.Drop(func(l Label) bool { return l.Number < n }); err != nil {
			panic(err)
		}
		if err := h.Punch(); err != nil {
			panic(err)
		}
	}
}

// TestKilled kills writing processes, one after the other: the newest version that each leaves is
// whole, and not older than the newest version before the kill.
func TestKilled(t *testing.T) {
	memory, err := Create(1)
	require.NoError(t, err)
	defer memory.Close()
	rounds, last := 12, uint64(0)
	if testing.Short() {
		rounds = 3
	}
	proc := ""
	for range rounds {
		proc += "x"
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "KEEP_TEST_PROC="+proc)
		cmd.ExtraFiles = []*os.File{memory.File()}
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for target := last + 1 + rand.Uint64N(20); last < target; {
			select {
			case err := <-ended:
				require.FailNow(t, "it has ended by itself", "%v", err)
			default:
			}
			if n := newestIn(t, memory.Home(0)); n > 0 {
				last = n
			}
		}
		require.NoError(t, cmd.Process.Kill())
		<-ended
		left := memory.Home(0)
		newest := newestIn(t, left)
		require.GreaterOrEqual(t, newest, last)
		labels, err := left.Labels()
		require.NoError(t, err)
		for _, l := range labels {
			parts, err := left.Read(l)
			require.NoError(t, err)
			require.Equal(t, versionOf(l.Number), parts)
		}
		memory.Release(len(proc))
		last = newest
	}
	require.LessOrEqual(t, taken(t, memory), int64(100*chunkBytes), "nothing piles up")
}

// newestIn returns the number of the newest version; 0: none, which a reader may also see while a
// new version replaces the last one.
func newestIn(t *testing.T, h *Home) (newest uint64) {
	labels, err := h.Labels()
	require.NoError(t, err)
	for _, l := range labels {
		newest = max(newest, l.Number)
	}
	return newest
}

// TestManyHomes: a memory may use the whole address range, and takes memory only for written bytes.
func TestManyHomes(t *testing.T) {
	memory, err := Create(HomesMax)
	require.NoError(t, err)
	defer memory.Close()
	before := taken(t, memory)
	h := memory.Home(HomesMax - 1)
	require.NoError(t, h.Claim(1))
	require.NoError(t, h.Write(label(1), partsOf(1)))
	parts, err := memory.Home(HomesMax - 1).Read(label(1))
	require.NoError(t, err)
	require.Equal(t, partsOf(1), parts)
	require.Less(t, taken(t, memory)-before, int64(10*chunkBytes))
}
