package boot

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const procs = 8

func decode(text string) (Message, error) {
	return NewDecoder(strings.NewReader(text), procs).Next()
}

// TestBadMessages: whatever a program writes to its lifeline, no number of a process gets
// through that the job does not have, and nothing is kept beyond MessageMax.
func TestBadMessages(t *testing.T) {
	for _, text := range []string{
		"\n", "x\n", "[]\n", `{"what":"joined"` + "\n", `{"what":"who knows"}` + "\n",
		`{"what":"silent","procs":[-1]}` + "\n", `{"what":"silent","procs":[0,8]}` + "\n", `{"what":"event","procs":[99999999999999999999]}` + "\n",
		`{"what":"spawn","n":-1}` + "\n", `{"what":"spawn"}` + "\n", `{"what":"aborted","n":0}` + "\n", `{"what":"aborted","n":256}` + "\n",
		`{"what":"keep","first":-3}` + "\n", `{"what":"keep","first":8}` + "\n", `{"what":"keep","procs":[0],"indices":[]}` + "\n", `{"what":"drop","rank":-1}` + "\n",
		`{"what":"dump","waits":[{"procs":[-7]}]}` + "\n", `{"what":"spawned","n":9}` + "\n",
		strings.Repeat("a", MessageMax+1), strings.Repeat("a", MessageMax) + "\n",
	} {
		_, err := decode(text)
		assert.ErrorIs(t, err, ErrMessage, "%.60q", text)
	}
}

// TestAMessageThatIsCutOff is of a process that was killed while it wrote: its end, no bad
// message.
func TestAMessageThatIsCutOff(t *testing.T) {
	d := NewDecoder(strings.NewReader(`{"what":"joined"}`+"\n"+`{"what":"jo`), procs)
	m, err := d.Next()
	require.NoError(t, err)
	assert.Equal(t, SaysJoined, m.What)
	_, err = d.Next()
	assert.ErrorIs(t, err, io.EOF)
}

// TestEncode: what a process says comes out as it was said; a text that is too long says
// that its end is missing, and a message that is too long without one is refused.
func TestEncode(t *testing.T) {
	said := Message{What: SaysKeep, AtNs: math.MaxInt64, Procs: []int{0, 7}, Indices: []uint32{1, math.MaxUint32}, UID: []byte{1, 2}, First: 7,
		Waits: []Wait{{Op: "recv", Comm: "world", Ranks: []int{1}, Tag: -1, Procs: []int{1}}}}
	line, err := said.Encode()
	require.NoError(t, err)
	heard, err := decode(string(line))
	require.NoError(t, err)
	assert.Equal(t, said, heard)
	for _, text := range []string{strings.Repeat("x", 2*MessageMax), strings.Repeat("\n", 2*MessageMax), strings.Repeat("\x00", 2*MessageMax)} {
		line, err = Message{What: SaysDump, Text: text}.Encode()
		require.NoError(t, err)
		assert.LessOrEqual(t, len(line), MessageMax)
		heard, err = decode(string(line))
		require.NoError(t, err)
		assert.Contains(t, heard.Text, "bytes are left out")
	}
	_, err = Message{What: SaysSpawn, N: 1, Args: []string{strings.Repeat("x", MessageMax)}}.Encode()
	assert.ErrorIs(t, err, ErrMessage)
}

// FuzzDecoder: nothing that comes over a lifeline makes the decoder panic or keep more than
// its bound, and what it lets through has the numbers of the job.
func FuzzDecoder(f *testing.F) {
	for _, m := range []Message{{What: SaysJoined}, {What: SaysSpawn, N: 3, Procs: []int{0, 1}}, {What: SaysKeep, First: 2, Procs: []int{1}, Indices: []uint32{1}}, {What: SaysEvent, Name: "detect", Procs: []int{7}}} {
		line, err := m.Encode()
		require.NoError(f, err)
		f.Add(append(line, line...))
	}
	f.Add([]byte(`{"what":"spawn","n":-1}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := NewDecoder(strings.NewReader(string(text)), procs)
		for {
			m, err := d.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					assert.ErrorIs(t, err, ErrMessage)
				}
				return
			}
			for _, p := range append(m.Procs, m.First, m.Rank) {
				assert.True(t, 0 <= p && p < procs, "process %d", p)
			}
			line, err := m.Encode()
			require.NoError(t, err)
			again, err := decode(string(line))
			require.NoError(t, err)
			assert.Equal(t, m.What, again.What)
		}
	})
}
