package cluster

import (
	"fmt"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Detector is how the processes of a run learn of deaths.
type Detector uint8

// The detectors.
const (
	// Drawn: one of the others, from the seed.
	Drawn Detector = iota
	// Exact: each survivor is told, at a time of its own.
	Exact
	// Ring: heartbeats, and no fault exceeds what fd.Config promises to bear: so
	// nobody who lives may be declared dead, and each death is found in time.
	Ring
	// Wild: heartbeats, and pauses and partitions longer than the timeout. Who is
	// declared dead and lives must end once it can be reached, or declare in turn.
	Wild
)

func (d Detector) String() string {
	return [...]string{"drawn", "exact", "ring", "wild"}[d]
}

// ParseDetector is the inverse of String.
func ParseDetector(text string) (Detector, error) {
	for d := Drawn; d <= Wild; d++ {
		if d.String() == text {
			return d, nil
		}
	}
	return Drawn, fmt.Errorf("detector %q: want drawn, exact, ring or wild", text)
}

// The ring in virtual time. Nobody alive is suspected as long as 2 periods, the
// longest delay and the longest pause are less than the timeout (fd.Config).
const (
	period   = 200 * mono.Microsecond
	timeout  = 1200 * mono.Microsecond
	confirm  = timeout / 2
	delayMax = 400 * mono.Microsecond
	pauseMax = 350 * mono.Microsecond
)

func (d Detector) beats() bool { return d == Ring || d == Wild }

// delayMax bounds the way of a frame; 0 = unbounded.
func (d Detector) delayMax() mono.Duration {
	if d == Ring {
		return delayMax
	}
	return 0
}

func (d Detector) config() fd.Config {
	if !d.beats() {
		return fd.Config{Mode: fd.Exact}
	}
	return fd.Config{Mode: fd.Ring, Period: period, Timeout: timeout, Confirm: confirm, Start: world.Epoch, Fence: true, AllowShortTimeouts: true}
}

// detectionMax bounds the time from a death to its declaration at all survivors
// after f deaths among n processes: f times the bound of fd.Config, and a delay
// for each hop of the flood, which may be cut and mended by a heartbeat.
func detectionMax(n, f int) mono.Duration {
	hops := mono.Duration(2)
	for ; n > 1; n /= 2 {
		hops++
	}
	return mono.Duration(f)*(period+2*timeout+confirm) + (hops+mono.Duration(f))*(delayMax+pauseMax+period)
}
