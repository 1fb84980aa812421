package pmi

import (
	"cmp"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	a, err := parse("cmd=get_result rc=0 msg=all is well value=(vector,(0,1,2)) value=2 x= y=a=b")
	require.NoError(t, err)
	assert.Equal(t, answer{"get_result", []field{{"rc", "0"}, {"msg", "all is well"}, {"value", "(vector,(0,1,2))"}, {"value", "2"}, {"x", ""}, {"y", "a=b"}}}, a)
	v, ok := a.value("value")
	assert.True(t, ok && v == "(vector,(0,1,2))", "the first of doubles")
	_, err = parse(" \x00 ")
	assert.ErrorIs(t, err, ErrProtocol)
}

// plain returns the lines of a stream that lines.next has to return, up to an error.
func plain(stream string) []string {
	var all []string
	for line := range strings.SplitAfterSeq(stream, "\n") {
		if text, whole := strings.CutSuffix(line, "\n"); whole && !blank(text) {
			all = append(all, text)
		}
	}
	return all
}

// FuzzLines: whatever the pieces of a stream, the same lines come out, in bounded memory. Each
// line is an answer that can be written again, or an error of ErrProtocol.
func FuzzLines(f *testing.F) {
	for i := 0; i < len(slurm); i += 2 {
		f.Add(slurm[i+1]+"\n"+hydra[i+1]+"\n", byte(i/2))
	}
	f.Add("cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n", byte(1))
	f.Add("\x00\n\n \r\ncmd=x msg=a b c d=e\n"+strings.Repeat("x", AnswerMax+2), byte(0))
	f.Fuzz(func(t *testing.T, stream string, pieces byte) {
		var from io.Reader = strings.NewReader(stream)
		switch pieces % 4 {
		case 1:
			from = iotest.OneByteReader(from)
		case 2:
			from = iotest.HalfReader(from)
		case 3:
			from = iotest.DataErrReader(from)
		}
		l := lines{from: from}
		want := plain(stream)
		for {
			line, err := l.next()
			if err != nil {
				require.True(t, errors.Is(err, io.EOF) && len(want) == 0 || errors.Is(err, ErrProtocol), "%v, and %d lines are left", err, len(want))
				return
			}
			require.NotEmpty(t, want)
			require.Equal(t, want[0], line)
			require.LessOrEqual(t, len(line), AnswerMax)
			want = want[1:]
			checkParse(t, line)
		}
	})
}

func checkParse(t *testing.T, line string) {
	a, err := parse(line)
	if err != nil {
		require.ErrorIs(t, err, ErrProtocol)
		require.Less(t, len(err.Error()), 600)
		return
	}
	text := "cmd=" + a.cmd
	for _, f := range a.fields {
		text += " " + f.key + "=" + f.value
	}
	again, err := parse(text)
	require.NoError(t, err)
	require.Equal(t, a, again)
	_, _, _ = a.refusal()
	n, err := a.number("size", 1)
	require.True(t, err != nil || 1 <= n && n <= 1<<30)
}

// FuzzSession: whatever a server sends, each call ends, and a result without an error is valid.
// After an error that is no refusal the client sends no further request.
func FuzzSession(f *testing.F) {
	for _, lines := range [][]string{slurm, hydra} {
		var stream string
		for i := 1; i < len(lines); i += 2 {
			stream += lines[i] + "\n"
		}
		f.Add(stream, false)
		f.Add("cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n"+stream, true)
	}
	f.Fuzz(func(t *testing.T, stream string, port bool) {
		conn := &told{Reader: &byLine{stream}}
		c := New(conn)
		if port {
			c.id = "3"
		}
		ctx := t.Context()
		check := func(err error) {
			var e *Error
			require.True(t, err == nil || errors.As(err, &e) && len(err.Error()) < 4000, "%v", err)
			before := conn.asked
			if c.broken != nil {
				require.Error(t, c.Barrier(ctx))
				require.Equal(t, before, conn.asked)
			}
		}
		check(c.Init(ctx))
		rank, size := c.World()
		require.True(t, c.broken != nil || rank == Unknown && size == Unknown || 0 <= rank && rank < size)
		l, err := c.Limits(ctx)
		check(err)
		require.True(t, err != nil || l.Key > 0 && l.Value > 0 && l.KVSName > 0)
		name, err := c.KVSName(ctx)
		check(err)
		require.Equal(t, err == nil, graphic(name))
		check(c.Put(ctx, "card-3", "c0ffee"))
		check(c.Barrier(ctx))
		_, err = c.Get(ctx, "card-1")
		check(err)
		check(c.Finalize(ctx))
		require.Error(t, c.Barrier(ctx))
	})
}

// byLine returns a line for each read, like a server that answers.
type byLine struct{ rest string }

func (b *byLine) Read(p []byte) (int, error) {
	if b.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, b.rest[:cmp.Or(strings.IndexByte(b.rest, '\n')+1, len(b.rest))])
	b.rest = b.rest[n:]
	return n, nil
}
