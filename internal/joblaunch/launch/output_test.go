package launch

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestBytesOfARankArriveUnchanged: long lines, and an end without a newline.
func TestBytesOfARankArriveUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got bytes.Buffer
		l := &lines{outlet: &outlet{w: &got}}
		text := strings.Repeat("a long line ", 300_000) + "\nand the last"
		for piece := []byte(text); len(piece) > 0; {
			n := min(len(piece), 32<<10)
			l.Write(piece[:n])
			piece = piece[n:]
		}
		l.Close()
		assert.Equal(t, text, got.String())
	})
}

// locked is a buffer that a timer writes and a test reads.
type locked struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *locked) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

// take returns the text since the last call.
func (l *locked) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// TestPartsOfLines: a prompt is shown when the outlet is at rest, with its prefix, once. The prompt
// waits while other streams write.
func TestPartsOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got locked
		out := &outlet{w: &got}
		tag := func(text string) func() string { return func() string { return text } }
		a, b := &lines{outlet: out, prefix: tag("[0] ")}, &lines{outlet: out, prefix: tag("[1] ")}
		shows := func(want string) {
			t.Helper()
			synctest.Wait()
			assert.Equal(t, want, got.take())
		}
		a.Write([]byte("first\nname? "))
		shows("[0] first\n")
		for range 3 {
			time.Sleep(60 * time.Millisecond)
			b.Write([]byte("busy\n"))
		}
		shows("[1] busy\n[1] busy\n[1] busy\n")
		time.Sleep(partAfter)
		shows("[0] name? ")
		a.Write([]byte("Bob\nnext\n"))
		shows("Bob\n[0] next\n")
		a.Write([]byte("part"))
		time.Sleep(partAfter + time.Millisecond)
		b.Write([]byte("between\n"))
		a.Write([]byte(", and its end\n"))
		shows("[0] part\n[1] between\n[0] , and its end\n")
		a.Write([]byte("more"))
		a.Close()
		shows("[0] more")
		out.writeLine([]byte("goulfm: an event\n"))
		shows("\ngoulfm: an event\n")
		b.Write([]byte("late"))
		b.Close()
		time.Sleep(time.Second)
		shows("[1] late")
	})
}
