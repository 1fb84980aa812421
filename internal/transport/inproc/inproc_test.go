package inproc

import (
	"testing"

	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/internal/transport"
	"github.com/goulfm/goulfm/internal/transport/transporttest"
)

// world is a World as the conformance suite wants it.
type world struct{ *World }

func (w world) Port(rank int) transport.Transport { return w.World.Port(rank) }

func (w world) Arena(rank int) *segment.Arena { return w.arenas[rank] }

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(_ *testing.T, n int) transporttest.World { return world{New(n)} })
}

func TestScribble(t *testing.T) {
	transporttest.Scribble(t, func(_ *testing.T, n int) transporttest.SharedWorld { return world{New(n)} })
}
