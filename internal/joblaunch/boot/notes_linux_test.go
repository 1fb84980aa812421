package boot

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// TestNoteWaits: a note is written with the next message, before that message, or once the note
// is old.
func TestNoteWaits(t *testing.T) {
	w := &writes{}
	p := &Process{line: w}
	p.Note(rankproto.Drop{Root: 3})
	p.FlushOld()
	assert.Empty(t, w.texts, "the note is new")

	p.Say(rankproto.Drop{First: 4, N: 1})
	require.Len(t, w.texts, 1)
	assert.Regexp(t, `(?s)"root":3.*"first":4`, w.texts[0])

	p.Note(rankproto.Drop{Root: 5})
	p.notes[0].AtNs -= 2 * RepairTime.Nanoseconds()
	p.FlushOld()
	require.Len(t, w.texts, 2)
	assert.Contains(t, w.texts[1], `"root":5`)
	assert.Empty(t, p.notes)
}

// writes records each Write.
type writes struct {
	net.Conn // nil: only Write is called
	texts    []string
}

func (w *writes) Write(text []byte) (int, error) {
	w.texts = append(w.texts, string(text))
	return len(text), nil
}
