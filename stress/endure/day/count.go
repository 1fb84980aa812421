package day

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/procfs"
)

// counts are the figures that all members share. Replacements get them from the others.
type counts struct {
	Begun      int64 // in ns of the wall clock, which all members share
	Agreements uint64
	Failures   uint64 // processes that were lost and replaced
	Repairs    uint64
	Next       uint64    // the agreement in which the next one dies
	Launcher   footprint // after the first tenth of the time
}

// A footprint is the memory and the descriptors of the launcher.
type footprint struct{ Resident, Descriptors int64 }

func (n *counts) encode() []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, n) // fixed sizes, into memory
	return b.Bytes()
}

func (n *counts) decode(b []byte) error {
	return binary.Read(bytes.NewReader(b), binary.LittleEndian, n)
}

func (n *counts) lasted() time.Duration { return time.Duration(time.Now().UnixNano() - n.Begun) }

// look measures the launcher.
func look() footprint {
	parent := os.Getppid()
	return footprint{procfs.RSS(parent), procfs.Descriptors(parent)}
}

// residentBits are the bits of the first figure of a footprint in a flag. A rank that does not
// measure contributes ones.
const residentBits = 40

func (p footprint) flag() uint64 {
	return uint64(p.Descriptors)<<residentBits | uint64(p.Resident)&(1<<residentBits-1)
}

func footprintOf(flag uint64) footprint {
	return footprint{int64(flag & (1<<residentBits - 1)), int64(flag >> residentBits)}
}

// Limits of the growth, in KiB and descriptors: the runtime keeps pages and stacks, and a process
// that is being started or reaped has some descriptors.
const (
	residentMay    = 16 << 10
	descriptorsMay = 64
)

// growth describes a growth above the limits; empty: none.
func (first footprint) growth(last footprint) string {
	switch {
	case last.Resident > first.Resident+residentMay:
		return fmt.Sprintf("memory of the launcher: %d KiB, was %d and may grow by %d", last.Resident, first.Resident, residentMay)
	case last.Descriptors > first.Descriptors+descriptorsMay:
		return fmt.Sprintf("descriptors of the launcher: %d, were %d and may be %d more", last.Descriptors, first.Descriptors, descriptorsMay)
	}
	return ""
}

// The day of the paper: section 4.3.
const (
	paperAgreements = 969739 / 86400.0
	paperFailures   = 146213 / 86400.0
)

// line describes the progress.
func (n *counts) line(now footprint) string {
	s := n.lasted().Seconds()
	return fmt.Sprintf("%8.0f s %10d agreements %9d failures %7.1f and %6.2f a second; launcher %d KiB, %d descriptors, rank 0 %d KiB",
		s, n.Agreements, n.Failures, float64(n.Agreements)/s, float64(n.Failures)/s, now.Resident, now.Descriptors, procfs.RSS(os.Getpid()))
}

// summary is the last line.
func (n *counts) summary() string {
	s := n.lasted().Seconds()
	return fmt.Sprintf("day: %d agreements, %d failures in %.0f s, all right: %.1f and %.2f a second (the paper's day, 24 hours: %.1f and %.2f)",
		n.Agreements, n.Failures, s, float64(n.Agreements)/s, float64(n.Failures)/s, paperAgreements, paperFailures)
}
