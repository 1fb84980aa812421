package rankproto

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const procs = 8

func fromRank(text string) (Received, error) {
	return FromRank(strings.NewReader(text), procs).Next()
}

func line(what, body string) string {
	return fmt.Sprintf(`{"what":%q,"body":%s}`+"\n", what, body)
}

// TestBadMessages: whatever a program writes to its lifeline, the decoder lets through no process
// number that the job does not have, and no message that a rank does not send. The decoder keeps
// nothing beyond MaxBytes.
func TestBadMessages(t *testing.T) {
	for _, text := range []string{
		"\n", "x\n", "[]\n", `{"what":"joined"` + "\n", `{"what":"joined"}` + "\n",
		line("who knows", "{}"), line("joined", "7"), line("prove", "{}"), line("describe", "{}"),
		line("silent", `{"procs":[-1]}`), line("silent", `{"procs":[0,8]}`), line("event", `{"name":"detect","procs":[99999999999999999999]}`),
		line("spawn", `{"n":-1}`), line("spawn", `{}`), line("spawn", `{"n":1,"procs":[8]}`), line("aborted", `{"code":0}`), line("aborted", `{"code":256}`), line("aborted", `{"code":3,"procs":[-2]}`),
		line("keep", `{"first":-3}`), line("keep", `{"first":8}`), line("keep", `{"procs":[0],"indices":[]}`), line("drop", `{"root":-1}`), line("drop", `{"first":8}`),
		line("dump", `{"waits":[{"procs":[-7]}]}`), line("spawned", `{"n":1}`),
		strings.Repeat("a", MaxBytes+1), strings.Repeat("a", MaxBytes) + "\n",
	} {
		_, err := fromRank(text)
		assert.ErrorIs(t, err, ErrMessage, "%.80q", text)
	}
	_, err := FromDaemon(strings.NewReader(line("spawned", `{"n":9}`)), procs).Next()
	assert.ErrorIs(t, err, ErrMessage)
	_, err = FromDaemon(strings.NewReader(line("joined", `{}`)), procs).Next()
	assert.ErrorIs(t, err, ErrMessage, "what a rank says")
}

// TestAMessageThatIsCutOff: a line without its end is from a process that was killed during a
// write. Such a line is the end of the stream, not a bad message.
func TestAMessageThatIsCutOff(t *testing.T) {
	d := FromRank(strings.NewReader(line("joined", "{}")+`{"what":"jo`), procs)
	m, err := d.Next()
	require.NoError(t, err)
	assert.Equal(t, Joined{}, m.Message)
	_, err = d.Next()
	assert.ErrorIs(t, err, io.EOF)
}

// ofRanks and ofDaemons have one message of each type.
var (
	ofRanks = []Message{Joined{}, Killing{"step", 40}, Event{"shrink", "world", []int{3}, "3"}, Silent{[]int{1, 1<<16 | 2}}, Fenced{}, Aborted{3, []int{0, 2 << 16}}, Finalizes{3, 1},
		Spawn{9, 2, "./x", []string{"a b"}, []string{"A=1"}, []int{0, 1<<16 | 7}, true}, Keep{3<<16 | 7, []int{0, 7}, []uint32{1, math.MaxUint32}, []byte{1, 2}, &Place{"world", 1, 1, true, true, true, []byte{3}}}, Drop{1<<16 | 5, 1, 0}, Drop{0, 2, 0}, Drop{0, 0, 1<<16 | 3}, Revoked{make([]byte, 16)}, Unmet{1, 1, "a:1", "refused", false}, Unmet{0, 0, "", "", true},
		Dump{[]Wait{{"recv", "world", []int{1}, -1, []int{1}, true, false}, {"barrier", "world", []int{1}, 0, []int{1}, false, true}}, []string{"main.go:7"}, "stacks"}}
	ofDaemons = []Message{Spawned{9, 1<<16 | 5, 2, false, false, ""}, Spawned{9, 0, 0, true, true, "no room"}, Keep{7, []int{0, 7}, []uint32{1, 2}, []byte{1}, nil}, Prove{}, Describe{}, Revoked{make([]byte, 16)}, Meet{1, 1}}
)

// TestRoundTrip: the other side receives each message as it was sent, with its time.
func TestRoundTrip(t *testing.T) {
	for side, messages := range [][]Message{ofRanks, ofDaemons} {
		var stream strings.Builder
		for i, m := range messages {
			b, err := Encode(math.MaxInt64-int64(i), m)
			require.NoError(t, err)
			stream.Write(b)
		}
		d := FromRank(strings.NewReader(stream.String()), procs)
		if side == 1 {
			d = FromDaemon(strings.NewReader(stream.String()), procs)
		}
		for i, m := range messages {
			got, err := d.Next()
			require.NoError(t, err)
			assert.Equal(t, Received{math.MaxInt64 - int64(i), m}, got)
		}
		_, err := d.Next()
		assert.ErrorIs(t, err, io.EOF)
	}
}

// TestTextsAreCut: a text that is too long states that its end is missing, and a message that is
// too long without a text is refused.
func TestTextsAreCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 2*MaxBytes), strings.Repeat("\n", 2*MaxBytes), strings.Repeat("\x00", 2*MaxBytes)} {
		b, err := Encode(0, Dump{Text: text})
		require.NoError(t, err)
		assert.LessOrEqual(t, len(b), MaxBytes)
		heard, err := fromRank(string(b))
		require.NoError(t, err)
		assert.Contains(t, heard.Message.(Dump).Text, "bytes are left out")
	}
	_, err := Encode(0, Spawn{N: 1, Args: []string{strings.Repeat("x", MaxBytes)}})
	assert.ErrorIs(t, err, ErrMessage)
}

// FuzzDecoder: no bytes on a lifeline make the decoder panic or keep more than its bound. A
// message that the decoder accepts has the numbers of the job and can be encoded again.
func FuzzDecoder(f *testing.F) {
	for _, m := range append(ofRanks, ofDaemons...) {
		b, err := Encode(1, m)
		require.NoError(f, err)
		f.Add(append(b, b...))
	}
	f.Add([]byte(line("spawn", `{"n":-1}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, decoder := range []func(io.Reader, int) *Decoder{FromRank, FromDaemon} {
			d := decoder(strings.NewReader(string(text)), procs)
			for {
				m, err := d.Next()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						assert.ErrorIs(t, err, ErrMessage)
					}
					break
				}
				assert.NoError(t, m.Message.check(procs))
				b, err := Encode(m.AtNs, m.Message)
				require.NoError(t, err)
				again, err := decoder(strings.NewReader(string(b)), procs).Next()
				require.NoError(t, err)
				assert.Equal(t, m.Message.what(), again.Message.what())
			}
		}
	})
}
