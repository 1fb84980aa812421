package cluster

import (
	"fmt"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Detector selects how the processes of a run learn of deaths.
type Detector uint8

// The detectors.
const (
	// Drawn: one of the others, from the seed.
	Drawn Detector = iota
	// Exact: each survivor is notified, at a time of its own.
	Exact
	// Ring: heartbeats, and no fault exceeds the limits of fd.Config. So no live process may be
	// declared dead, and each death is found in time.
	Ring
	// Wild: heartbeats, and pauses and partitions longer than the timeout. A live process that was
	// declared dead must end once it can be reached, or declare in turn.
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

// The parameters of the ring in virtual time. No live process is suspected as long as the sum of 2
// periods, the longest delay and the longest pause is less than the timeout (fd.Config).
const (
	period   = 200 * mono.Microsecond
	timeout  = 1200 * mono.Microsecond
	confirm  = timeout / 2
	delayMax = 400 * mono.Microsecond
	pauseMax = 350 * mono.Microsecond
)

func (d Detector) beats() bool { return d == Ring || d == Wild }

// delayMax returns the longest delay of a frame; 0 = unbounded.
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

// detectionMax bounds the time from a death to its declaration at all survivors after f deaths
// among n processes. The bound is f times that of fd.Config, plus a delay for each hop of the
// flood. Deaths may cut the flood, and a heartbeat repairs each cut.
func detectionMax(n, f int) mono.Duration {
	hops := mono.Duration(2)
	for ; n > 1; n /= 2 {
		hops++
	}
	return mono.Duration(f)*(period+2*timeout+confirm) + (hops+mono.Duration(f))*(delayMax+pauseMax+period)
}
