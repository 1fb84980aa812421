package session

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// ErrConfig is wrapped by every error of Config.Check.
var ErrConfig = errors.New("session configuration")

// Times of a lane.
const (
	// BusyFor is how long the lower number insists on its own attempt, counted from the moment at
	// which the lane lost its connection or was first needed.
	BusyFor = mono.Second
	// ComplainAfter is how long a lane that is needed lacks a connection before Unreachable.
	ComplainAfter = mono.Second
	// AskLast bounds the wait between two Ask actions, which doubles from ComplainAfter on.
	AskLast = 8 * mono.Second
	// AttemptFor bounds one attempt, from the dial to the answer. The session then abandons a dial
	// without an answer and begins another attempt.
	AttemptFor = 3 * mono.Second

	// RedialFirst and RedialLast bound the wait before a dial, which doubles from RedialFirst to
	// RedialLast while no connection opens.
	RedialFirst = mono.Millisecond
	RedialLast  = 100 * mono.Millisecond
)

// ReferredMax is the default of Config.Referred.
const ReferredMax = 4 << 20

// An Identity is a process of a job: its number, and a random value that distinguishes this process
// from any other process that ever had the number.
type Identity struct {
	Number uint32
	Birth  uint64
}

// A Config describes one end of a lane.
type Config struct {
	Job      uint64
	Me, Peer Identity
	Lane     uint8 // which of the lanes of this pair
	Role     uint8 // the role of this process; sent to the peer, not interpreted here

	// Copied is how many bytes the sender keeps in its ring until they are acknowledged. The
	// receiver acknowledges each quarter of Copied, so both ends must use the same value. A frame
	// must not be longer than three quarters of Copied, or its sender may have to wait for a Sweep.
	Copied int
	// Referred is how many bytes the sender keeps by reference to the user's buffers.
	// Default ReferredMax.
	Referred int
}

// WithDefaults returns c with a Referred of 0 replaced by its default.
func (c Config) WithDefaults() Config {
	if c.Referred == 0 {
		c.Referred = ReferredMax
	}
	return c
}

// Check returns an error that describes the first fault of c with its defaults, or nil.
func (c Config) Check() error {
	c = c.WithDefaults()
	switch {
	case c.Me.Number == c.Peer.Number:
		return fmt.Errorf("%w: process %d on both ends", ErrConfig, c.Me.Number)
	case c.Copied < 4:
		return fmt.Errorf("%w: %d bytes kept by copy; the minimum is 4", ErrConfig, c.Copied)
	case c.Referred < 0:
		return fmt.Errorf("%w: %d bytes kept by reference", ErrConfig, c.Referred)
	}
	return nil
}
