package bootauth

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLine(t *testing.T) {
	for name, c := range map[string]struct{ in, line, why, left string }{
		"one":            {"abc\n", "abc", "", ""},
		"empty":          {"\nx", "", "", "x"},
		"more behind it": {"abc\r\ndef\n", "abc\r", "", "def\n"},
		"the longest":    {"01234567\nx", "01234567", "", "x"},
		"too long":       {"012345678\n", "", "more than 8 bytes", "\n"},
		"no end":         {"abc", "", "closed by the other end after 3 bytes", ""},
		"nothing":        {"", "", "closed by the other end after 0 bytes", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.NewReader(c.in)
			line, err := readLine(in, 8)
			if c.why == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.why)
			}
			assert.Equal(t, c.line, string(line))
			left, _ := io.ReadAll(in)
			assert.Equal(t, c.left, string(left))
		})
	}
	_, err := readLine(iotest.ErrReader(io.ErrClosedPipe), 8)
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// FuzzRequest: a request is a bounded line, the first of the input; the rest is untouched.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{"", "\n", "join 3 0badcafe\n", "a\nb\n", strings.Repeat("x", RequestMax) + "\n", strings.Repeat("x", RequestMax+1) + "\n", "\x00\xff\r\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		line, err := readRequest(in)
		if err != nil {
			require.Empty(t, line)
			require.LessOrEqual(t, len(data)-in.Len(), RequestMax+1)
			return
		}
		require.NoError(t, checkLine(line, RequestMax))
		left, _ := io.ReadAll(in)
		require.Equal(t, string(data), string(line)+"\n"+string(left))
	})
}

// FuzzReply: an answer is unchanged, and a reason is one line that a terminal can show.
func FuzzReply(f *testing.F) {
	for _, text := range []string{"", "answer", "answer ", "answer a b", "refused not yet", "failed \x1b[2J", "answers x", strings.Repeat("x", 100)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		text, err := parseReply(line)
		if err == nil {
			require.Equal(t, string(line)+"\n", string(reply(wordAnswer, text)))
			return
		}
		require.True(t, utf8.ValidString(err.Error()))
		require.NotContains(t, err.Error(), "\x1b")
		require.NotContains(t, err.Error(), "\n")
		require.Less(t, len(err.Error()), reasonMax+100)
	})
}

func TestPlain(t *testing.T) {
	assert.Equal(t, "a b c", plain("a\nb\tc"))
	assert.Equal(t, "é?[1m???", plain("é\x1b[1m\xff\x00\u202e"))
	assert.Equal(t, strings.Repeat("x", reasonMax), plain(strings.Repeat("x", 2*reasonMax)))
	assert.Equal(t, strings.Repeat("x", reasonMax-1), plain(strings.Repeat("x", reasonMax-1)+"é"), "no half character")
}
