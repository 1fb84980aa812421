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
	// BusyFor is how long the lower number insists on its own attempt, counted from
	// the moment at which the lane came to lack a connection.
	BusyFor = mono.Second
	// ComplainAfter is how long a wanted lane lacks a connection before Unreachable.
	ComplainAfter = mono.Second
	// AskLast bounds the wait between two of Ask, which doubles from ComplainAfter on.
	AskLast = 8 * mono.Second
	// AttemptFor bounds one attempt, from the dial to the answer: a dial into silence is
	// given up then, and another one begins.
	AttemptFor = 3 * mono.Second

	// RedialFirst and RedialLast bound the wait before a dial, which doubles from the
	// one to the other while no connection opens.
	RedialFirst = mono.Millisecond
	RedialLast  = 100 * mono.Millisecond
)

// ReferredMax is the default of Config.Referred.
const ReferredMax = 4 << 20

// An Identity is a process of a job: its number, and the random value that tells this
// process from any other one that ever has had the number.
type Identity struct {
	Number uint32
	Birth  uint64
}

// A Config describes one end of a lane.
type Config struct {
	Job      uint64
	Me, Peer Identity
	Lane     uint8 // which of the lanes of this pair
	Role     uint8 // what this process is; told to the peer, not looked at

	// Copied is how many bytes the sender keeps in its ring until they are
	// acknowledged. The receiver's acknowledgements go by it too, so both ends have the
	// same: the receiver acknowledges each quarter. A frame must not be longer than
	// three quarters, or it may wait for a Sweep.
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

// Check returns what is wrong with c, after its defaults, or nil.
func (c Config) Check() error {
	c = c.WithDefaults()
	switch {
	case c.Me.Number == c.Peer.Number:
		return fmt.Errorf("%w: process %d on both ends", ErrConfig, c.Me.Number)
	case c.Copied < 4:
		return fmt.Errorf("%w: %d bytes kept by copy, want at least 4", ErrConfig, c.Copied)
	case c.Referred < 0:
		return fmt.Errorf("%w: %d bytes kept by reference", ErrConfig, c.Referred)
	}
	return nil
}
