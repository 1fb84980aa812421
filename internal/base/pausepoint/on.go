//go:build pausepoints

package pausepoint

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// Enabled reports whether this build can pause. It is a constant, so disabled points cost nothing.
const Enabled = true

var (
	active = fromEnvironment()
	visits atomic.Uint64
)

func fromEnvironment() *plan {
	text := os.Getenv(Variable)
	if text == "" {
		return nil
	}
	p, err := parse(text)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s=%s: %v\n", Variable, text, err)
		os.Exit(2)
	}
	p.seed ^= uint64(os.Getpid()) << 32
	return &p
}

// At may pause the calling goroutine, by the plan of GOULFM_PAUSE.
func At(place string) {
	p := active
	if p == nil || !strings.HasPrefix(place, p.place) {
		return
	}
	if d := p.pause(visits.Add(1)); d > 0 {
		time.Sleep(d)
	}
}
