package enginejob

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

// The messages at the meeting place, before the connection is a lifeline:
//
//	| rank to daemon | a claim   | with a pidfd of the rank                        |
//	| daemon to rank | an answer | placed: with descriptors of segment 0 and arenas; of several nodes also of the table, where the rank listens, and all doorbells |
//	| rank to daemon | cards     | over another connection, where nodes meet by cards |
//
// Each is a length (u32, little endian) and that many bytes of JSON. Descriptors come with the
// first byte. A placed is the last answer: the next byte is the lifeline's.

const (
	prefixBytes = 4
	messageMax  = 1 << 20
)

// Bounds of the values of a claim.
const (
	ranksMax = 1024 // of one node
	wordsMax = 128  // of a mask of cores: 8,192

	localsMax = 240 // ranks of one of several nodes: each gets the doorbells of all, and a message takes 253 descriptors
	nodesMax  = 4096
	hostMax   = 256
	keyMax    = 1024
	whyMax    = 4096
)

// A claim is the identity that a rank claims.
type claim struct {
	Build uint32   `json:"build"` // buildid.Build
	Key   string   `json:"key"`
	Rank  int      `json:"rank"`
	Size  int      `json:"size"`
	Cores []uint64 `json:"cores"` // its affinity mask

	Several *several `json:"several,omitempty"` // nil: all ranks are on this node
	Cards   *cards   `json:"cards,omitempty"`   // this is no claim: a rank passes the cards of all ranks to its daemon
}

// A cards holds the cards that ranks have exchanged by PMI.
type cards struct {
	Texts []string `json:"texts"` // all different
	Of    []int    `json:"of"`    // by rank: the index of its daemon's card
}

// An answer is a daemon's message to a rank.
type answer struct {
	Build     uint32     `json:"build"` // buildid.Build
	What      what       `json:"what"`
	Card      string     `json:"card,omitempty"`      // waiting, if nodes meet by cards: the card of this daemon
	Info      *boot.Info `json:"info,omitempty"`      // placed: its place
	Nodes     int        `json:"nodes,omitempty"`     // placed: of the world, if there are several
	Why       string     `json:"why,omitempty"`       // refused: for users
	Elsewhere bool       `json:"elsewhere,omitempty"` // refused: another rank reports the reason
}

type what string

// The kinds of answers.
const (
	waiting what = "waiting" // this rank has come, others have not
	placed  what = "placed"  // all have come
	started what = "started" // the world has begun without this process: wait for its end
	refused what = "refused" // the world does not start, or not with this process
)

var errMessage = errors.New("bad message at the meeting place")

// encode returns a message with its length.
func encode(message any) []byte {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err) // numbers, bools and strings always marshal
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// lengthOf reads the number of bytes that follow.
func lengthOf(prefix [prefixBytes]byte) (int, error) {
	n := binary.LittleEndian.Uint32(prefix[:])
	if n > messageMax {
		return 0, fmt.Errorf("%w: %d bytes", errMessage, n)
	}
	return int(n), nil
}

// decodeClaim reads a claim. For a rank of another build the error Is buildid.ErrAnother, and
// only key and rank are returned: the fields build, key and rank keep their names in all builds.
func decodeClaim(body []byte) (c claim, err error) {
	if stamp, err := buildid.Read(body); err == nil && !stamp.IsOurs() {
		_ = json.Unmarshal(body, &c) // fields of other types are left out
		if c.Key == "" {
			return claim{}, fmt.Errorf("%w: of no build of goulfm", errMessage)
		}
		return claim{Key: c.Key, Rank: stamp.Rank}, stamp.CheckRank()
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return c, fmt.Errorf("%w: %w", errMessage, err)
	}
	switch {
	case c.Cards != nil:
		return c, c.Cards.check()
	case c.Size < 1 || c.Several == nil && c.Size > ranksMax || c.Size > rm.RanksMax || c.Rank < 0 || c.Rank >= c.Size:
		return c, fmt.Errorf("%w: rank %d of %d", errMessage, c.Rank, c.Size)
	case len(c.Cores) > wordsMax:
		return c, fmt.Errorf("%w: a mask of %d words", errMessage, len(c.Cores))
	}
	return c, c.Several.check(c.Size)
}

// check returns the fault in a several in a world of size ranks, or nil.
func (s *several) check(size int) error {
	switch {
	case s == nil:
		return nil
	case s.Locals < 1 || s.Locals > localsMax || s.Locals > size || s.Node < -1 || s.Node >= nodesMax || len(s.Hosts) > nodesMax || len(s.Addrs) > nodesMax:
		return fmt.Errorf("%w: %d of %d ranks on node %d of %d", errMessage, s.Locals, size, s.Node, len(s.Hosts))
	case s.Channel != byCards && s.Channel != byMunge && s.Channel != bySecret:
		return fmt.Errorf("%w: %.20q", errMessage, s.Channel)
	}
	return nil
}

func (c *cards) check() error {
	if len(c.Of) > rm.RanksMax || len(c.Texts) > len(c.Of) {
		return fmt.Errorf("%w: %d cards of %d ranks", errMessage, len(c.Texts), len(c.Of))
	}
	for _, i := range c.Of {
		if i < 0 || i >= len(c.Texts) {
			return fmt.Errorf("%w: card %d of %d", errMessage, i, len(c.Texts))
		}
	}
	return nil
}

// decodeAnswer reads an answer. The error Is buildid.ErrAnother if the daemon has another build.
func decodeAnswer(body []byte) (a answer, err error) {
	if stamp, err := buildid.Read(body); err == nil && !stamp.IsOurs() {
		return a, buildid.ErrAnother
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return a, fmt.Errorf("%w: %w", errMessage, err)
	}
	switch {
	case a.What == placed && (a.Info == nil || a.Info.Size < 1 || a.Info.Rank < 0 || a.Info.Rank >= a.Info.Size):
		return a, fmt.Errorf("%w: a place that is none", errMessage)
	case a.What != waiting && a.What != placed && a.What != started && a.What != refused:
		return a, fmt.Errorf("%w: %.20q", errMessage, a.What)
	}
	return a, nil
}

// addMask adds the cores of mask to those of all.
func addMask(all, mask []uint64) []uint64 {
	for len(all) < len(mask) {
		all = append(all, 0)
	}
	for i, word := range mask {
		all[i] |= word
	}
	return all
}

// countCores counts the cores of a mask.
func countCores(mask []uint64) (n int) {
	for _, word := range mask {
		n += bits.OnesCount64(word)
	}
	return n
}
