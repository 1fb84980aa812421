package buildid

import (
	"encoding/json"
	"errors"
	"fmt"
)

//go:generate go test . -run TestBuild -update

// ErrAnother is wrapped by the error about a process of another build.
var ErrAnother = errors.New("another build of goulfm: install the same one on all nodes")

// Another returns the error about a process of another build, such as "rank 1".
func Another(name string) error { return fmt.Errorf("%s has %w", name, ErrAnother) }

// A Stamp holds the fields that all builds read in each other's messages. A message lacks those
// that do not apply to its sender.
type Stamp struct {
	Build uint32 `json:"build"` // 0: a build from before there was this field
	Rank  int    `json:"rank"`
	Node  int    `json:"node"`
}

// Read returns the Stamp of a message in JSON. An error means that the text is no JSON object. A
// field of another type than expected is read as zero: the sender is of another build.
func Read(text []byte) (Stamp, error) {
	var s Stamp
	err := json.Unmarshal(text, &s)
	if _, otherType := errors.AsType[*json.UnmarshalTypeError](err); otherType && s != (Stamp{}) {
		err = nil
	}
	return s, err
}

// IsOurs reports whether the sender has the build of this process.
func (s Stamp) IsOurs() bool { return s.Build == Build }

// CheckRank returns nil if the sender has the build of this process, else the error that names
// the rank of the stamp.
func (s Stamp) CheckRank() error {
	if s.IsOurs() {
		return nil
	}
	return Another(fmt.Sprintf("rank %d", s.Rank))
}
