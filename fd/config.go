package fd

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// ErrConfig is wrapped by every error of Config.Check.
var ErrConfig = errors.New("failure detector configuration")

// Mode is how deaths are found.
type Mode uint8

// The modes.
const (
	// Exact: deaths come as Exited to every process, as on one machine, where the
	// kernel reports them. There is no heartbeat and no deadline.
	Exact Mode = iota
	// Ring: each process sends heartbeats to the next live one, which finds its
	// death by silence (RR-9024, Algorithm 1).
	Ring
)

// String returns "exact" or "ring".
func (m Mode) String() string {
	switch m {
	case Exact:
		return "exact"
	case Ring:
		return "ring"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// A Partition is the rule a process follows when so many others are silent that the process itself
// may be cut off (B18).
type Partition uint8

// The choices.
const (
	// GoOn declares the silent processes dead, however many they are: two halves of a partition
	// continue, each without the other, until a process that both can reach informs the losing
	// side.
	GoOn Partition = iota
	// Majority stops this process before it would declare the greater part of the processes on
	// anything less than exact evidence; a notice or an agreement is less. Let the base be the
	// processes without those that have left, are Absent, or are known here to have Exited. A
	// process continues as long as the processes that it considers alive are more than half of the
	// base, or exactly half with the lowest rank of the base among them.
	//
	// Two groups that consider each other dead never both continue. Let A and B be two disjoint
	// groups of live processes, with EA and EB the processes outside the base of each. The
	// processes in EA and EB have really ended, have left, or are Absent at both, so A and B
	// together are at most N - |EA ∪ EB|. If both continued, they would be at least
	// (N-|EA|)/2 + (N-|EB|)/2 >= N - |EA ∪ EB|, so both are halves of the same base, and only one
	// half has the lowest rank.
	//
	// The assumption: both groups agree about which processes are Absent. Otherwise both may
	// continue:
	//
	//	0 and 1 are there, 2 and 3 are Absent. 2 and 3 come, and 1 learns of them. A partition
	//	cuts off 0 before 0 learns of them: 0 declares 1, and is half of the base {0,1} with
	//	the lowest rank; 1, 2 and 3 declare 0, and are three of four.
	//
	// The price: without exact evidence the detector survives the death of less than half of the
	// processes, or of exactly half without the lowest rank. Of two processes it survives only the
	// death of the second.
	Majority
)

// String returns "go on" or "majority".
func (p Partition) String() string {
	switch p {
	case GoOn:
		return "go on"
	case Majority:
		return "majority"
	}
	return fmt.Sprintf("partition rule %d", uint8(p))
}

// Limits of a Config.
const (
	// TimeoutMin is the least Timeout between ranks: a rank that computes on all its
	// processors under garbage collection is late by tens of milliseconds.
	TimeoutMin = 200 * mono.Millisecond
	// DurationMax bounds every Duration of a Config.
	DurationMax = 24 * 3600 * mono.Second

	periodDefault = 100 * mono.Millisecond
	processesMax  = (rankset.RankMax + 1) / 2 // the flood has two items per process
)

// A Config describes one process's detector. Its zero Durations mean defaults.
//
// Its bounds hold if a message takes at most τ and no process is late by more than L (a pause is
// lateness):
//
//   - The ring suspects no live process if 2·Period + τ + L <= Timeout, and declares no live
//     process if 2·Period + τ + L <= Timeout + Confirm. A Broken connection to a live process is
//     harmless if Period + 2τ + L <= Confirm.
//   - With Fence, a death is declared by its observer within τ + Period + Timeout + Confirm; the
//     Period is 0 if a Tick follows every message. Of f processes dead side by side
//     on the ring the last is declared within τ + f·(Period + 2·Timeout + Confirm)
//     of the last death (RR-9024, §3.2, Lemma 1, with a second check); if all of them
//     die at one moment and nobody else does, and Confirm <= Timeout, within
//     τ + (1+⌈log2 f⌉)·(Period + Timeout) + Confirm, because several predecessors
//     of a suspect are probed at once (B9).
//   - All survivors then know after one τ per hop of the death flood.
type Config struct {
	N    int // processes of the world, at least 1
	Me   int // this process, in [0, N)
	Mode Mode

	// Period is the time between two heartbeats (η). Default 100 ms, or a quarter of Timeout if
	// that is less. A shorter Period alone finds no death sooner: it permits a shorter Timeout, and
	// costs messages.
	Period mono.Duration
	// Timeout is the silence after which a process is suspected (δ). Default 4 Periods, and at
	// least TimeoutMin without AllowShortTimeouts. A shorter Timeout finds deaths sooner and
	// suspects slow processes. An emitter that an observer has just found has 2 Timeouts, because
	// it may first have to learn of its new observer (T3).
	Timeout mono.Duration
	// Confirm is the time a suspect has to answer the second check (B10). Default
	// half a Timeout.
	Confirm mono.Duration
	// Start is when the ring starts, the same moment at all processes but for the precision of the
	// join barrier (B16): the first heartbeat is sent at Start, and an emitter from which nothing
	// has arrived is suspected of silence at Start + 2 Timeouts. Broken and Watch may lead to an
	// earlier suspicion, and so may the heartbeats that arrive with Adaptive.
	Start mono.Time

	// Fence declares a silent process without killing it. Without Fence, silence leads to Suspect
	// only, and the declaration waits for Exited, Agreed or a notice; until then no process
	// observes the predecessor of the suspect on the ring.
	Fence bool
	// Partition is the rule for the case that most others are silent (B18). Default GoOn.
	Partition Partition
	// AllowShortTimeouts permits a Timeout below TimeoutMin: for virtual time.
	AllowShortTimeouts bool

	// Adaptive, if not nil, states the required quality of the detection of silence, in place of
	// times of heartbeats: each observer measures the path from its emitter, requests as few
	// heartbeats as suffice, and suspects the emitter at the freshness point (package adaptive).
	// The default is nil: the times above apply. All processes have the same quality, in Ring mode.
	//
	// Confirm is then a part of Adaptive.Detection (T_D), by default a tenth. Timeout is the rest
	// of T_D, for processes without heartbeats to judge by: a watched process, and an emitter just
	// found. Period is the first period of each observation. Neither may be set to another value.
	//
	// With Fence, the observer declares a death within T_D, provided that it had received
	// heartbeats from the dead process as its emitter, and that the mean heartbeat takes no longer
	// than the measured round trip. For f processes dead side by side the bounds above apply. A
	// live process is suspected with a small probability only: Adaptive.Recurrence.
	//
	// A message counts as received at the Tick after it, so a Tick has to follow each message, or
	// all messages that were received together.
	Adaptive *adaptive.QoS
}

// Fences reports whether a process that is declared dead may be alive: then its actions until it
// learns of the declaration must do no harm.
func (c Config) Fences() bool { return c.Mode == Ring && c.Fence }

// WithDefaults returns c with every Duration that is 0 replaced by its default.
func (c Config) WithDefaults() Config {
	if c.Adaptive != nil {
		return c.withQuality()
	}
	if c.Period == 0 {
		c.Period = periodDefault
		if c.Timeout > 0 {
			c.Period = min(c.Period, max(c.Timeout/4, 1))
		}
	}
	if c.Timeout == 0 {
		c.Timeout = 4 * c.Period
		if !c.AllowShortTimeouts {
			c.Timeout = max(c.Timeout, TimeoutMin)
		}
	}
	if c.Confirm == 0 {
		c.Confirm = max(c.Timeout/2, 1)
	}
	return c
}

// withQuality is WithDefaults for times that follow from the requested quality.
func (c Config) withQuality() Config {
	q := c.Adaptive.WithDefaults()
	c.Confirm = mono.Duration(c.limits().WithDefaults(q).Confirm)
	if c.Timeout == 0 {
		c.Timeout = mono.Duration(q.Detection) - c.Confirm
	}
	if c.Period == 0 {
		var w adaptive.Watch
		w.Start(0, q, c.limits())
		c.Period = mono.Duration(w.Wanted())
	}
	return c
}

// limits bounds the periods that an observer may request.
func (c Config) limits() adaptive.Limits {
	return adaptive.Limits{Confirm: adaptive.Duration(c.Confirm)}
}

// checkQuality returns an error for an invalid quality, for times that do not follow from the
// quality, and for a quality outside Ring mode.
func (c Config) checkQuality() error {
	if c.Adaptive == nil {
		return nil
	}
	if err := errors.Join(c.Adaptive.Check(), c.limits().Check(*c.Adaptive)); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	bare := c
	bare.Period, bare.Timeout = 0, 0
	if given, follows := c.WithDefaults(), bare.WithDefaults(); given != follows {
		return fmt.Errorf("%w: period %v and timeout %v, want none where they follow from a quality, as %v and %v",
			ErrConfig, given.Period, given.Timeout, follows.Period, follows.Timeout)
	}
	if c.Mode != Ring {
		return fmt.Errorf("%w: a quality of detection in mode %v, want %v", ErrConfig, c.Mode, Ring)
	}
	return nil
}

// Check returns an error if c, with its defaults, is invalid.
func (c Config) Check() error {
	if err := c.checkQuality(); err != nil {
		return err
	}
	c = c.WithDefaults()
	switch {
	case c.N < 1 || c.N > processesMax:
		return fmt.Errorf("%w: %d processes, want 1 to %d", ErrConfig, c.N, processesMax)
	case c.Me < 0 || c.Me >= c.N:
		return fmt.Errorf("%w: process %d of %d", ErrConfig, c.Me, c.N)
	case c.Mode > Ring:
		return fmt.Errorf("%w: %v", ErrConfig, c.Mode)
	case c.Partition > Majority:
		return fmt.Errorf("%w: %v", ErrConfig, c.Partition)
	case c.Period <= 0 || c.Confirm <= 0:
		return fmt.Errorf("%w: period %v and confirmation time %v, want above 0", ErrConfig, c.Period, c.Confirm)
	case c.Timeout < 2*c.Period:
		return fmt.Errorf("%w: timeout %v, want at least 2 periods of %v", ErrConfig, c.Timeout, c.Period)
	case max(c.Timeout, c.Confirm) > DurationMax:
		return fmt.Errorf("%w: timeout %v and confirmation time %v, want at most %v", ErrConfig, c.Timeout, c.Confirm, DurationMax)
	case c.Timeout < TimeoutMin && !c.AllowShortTimeouts:
		return fmt.Errorf("%w: timeout %v, want at least %v", ErrConfig, c.Timeout, TimeoutMin)
	}
	return nil
}
