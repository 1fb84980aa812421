package session

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestSeats plays testdata/seats/*.txt. A line is a time in milliseconds and one of: leave SERVICE
// WORK SERVER ASKED TOOK, take SERVICE WORK, drop SERVER, whose address is its name.
func TestSeats(t *testing.T) {
	golden.Play(t, "testdata/seats/*.txt", func(t *testing.T) golden.Run {
		var s Seats
		return func(c golden.Command, out io.Writer) {
			w, line := c.Words, c.Line
			if line == "new" {
				s = Seats{}
				return
			}
			require.GreaterOrEqual(t, len(w), 3, line)
			millis := func(text string) mono.Duration { return mono.Duration(number(t, text)) * mono.Millisecond }
			at := mono.Time(millis(w[0]))
			switch w[1] {
			case "leave":
				require.Len(t, w, 7, line)
				s.Leave(Seat{Service: w[2], Work: float64(number(t, w[3])), Server: readServer(w[4]), Addr: w[4], Asked: mono.Time(millis(w[5]))}, millis(w[6]), at)
			case "take":
				require.Len(t, w, 4, line)
				if seat, ok := s.Take(w[2], float64(number(t, w[3])), at); ok {
					fmt.Fprintf(out, "at %s, asked at %v\n", name(seat.Server), mono.Duration(seat.Asked))
				} else {
					fmt.Fprintln(out, "none: ask")
				}
			case "drop":
				s.Drop(w[2])
			default:
				require.Fail(t, "what is "+w[1])
			}
		}
	})
}
