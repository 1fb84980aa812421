package engine

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/internal/testing/interleave"
)

// bed is where the actors of a test sleep: the park.Sleeper of a node, each of whose calls is a
// step.
type bed struct {
	*interleave.World
	asleep []*sleeping
}

type sleeping struct {
	at    *uint32
	woken bool
}

func (b *bed) Sleep(word *uint32, old uint32, _ mono.Duration) {
	b.Step(fmt.Sprint("falls asleep on ", old))
	if segment.Load32(word) != old {
		return
	}
	s := &sleeping{at: word}
	b.asleep = append(b.asleep, s)
	b.Await("sleeps", func() bool { return s.woken })
	b.asleep = slices.DeleteFunc(b.asleep, func(other *sleeping) bool { return other == s })
}

func (b *bed) Wake(word *uint32) {
	b.Step("wakes")
	for _, s := range b.asleep {
		s.woken = s.woken || s.at == word
	}
}

func (b *bed) Move(word, to *uint32) {
	b.Step("moves sleepers")
	for _, s := range b.asleep {
		if s.at == word {
			s.at = to
		}
	}
}

func (b *bed) Yield() {}
