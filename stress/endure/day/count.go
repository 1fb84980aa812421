package day

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/procfs"
)

// counts are the figures that all members share. The survivors hand them to replacements.
type counts struct {
	Begun      int64 // in ns of the wall clock, which all members share
	Agreements uint64
	Failures   uint64 // processes that were lost and replaced
	Repairs    uint64
	Next       uint64    // the agreement in which the next victim dies
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

// measured measures the launcher.
func measured() footprint {
	pid := launcherOf(os.Getppid(), procfs.Parent, procfs.Program)
	return footprint{procfs.RSS(pid), procfs.Descriptors(pid)}
}

// launcherOf returns the launcher, given the parent of a rank. Under flag --host of goulfm run that
// parent is a node daemon: a child of the launcher, and the same program. The memory of a daemon
// grows up to 64 MiB before its first garbage collection, and would fail the check of growth.
func launcherOf(pid int, parent func(pid int) int, program func(pid int) string) int {
	own := program(pid)
	for own != "" && program(parent(pid)) == own {
		pid = parent(pid)
	}
	return pid
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

// A report is the figures of a line. The field names are those of -json.
type report struct {
	Seconds             float64 `json:"seconds"`
	Agreements          uint64  `json:"agreements"`
	Failures            uint64  `json:"failures"`
	Repairs             uint64  `json:"repairs"`
	LauncherKiB         int64   `json:"launcherKiB"`
	LauncherDescriptors int64   `json:"launcherDescriptors"`
	RankKiB             int64   `json:"rankKiB"` // of rank 0
	Done                bool    `json:"done"`    // the time is over, and every result was right
}

func (n *counts) report(now footprint, done bool) report {
	return report{n.lasted().Seconds(), n.Agreements, n.Failures, n.Repairs, now.Resident, now.Descriptors, procfs.RSS(os.Getpid()), done}
}

// print writes the line of a report: for people, or as JSON.
func (r report) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	_, err := fmt.Fprintln(out, r)
	return err
}

// String describes the progress, or the whole run.
func (r report) String() string {
	agreed, failed := float64(r.Agreements)/r.Seconds, float64(r.Failures)/r.Seconds
	if r.Done {
		return fmt.Sprintf("day: %d agreements, %d failures in %.0f s, all right: %.1f and %.2f a second (the paper's day, 24 hours: %.1f and %.2f)",
			r.Agreements, r.Failures, r.Seconds, agreed, failed, paperAgreements, paperFailures)
	}
	return fmt.Sprintf("%8.0f s %10d agreements %9d failures %7.1f and %6.2f a second; launcher %d KiB, %d descriptors, rank 0 %d KiB",
		r.Seconds, r.Agreements, r.Failures, agreed, failed, r.LauncherKiB, r.LauncherDescriptors, r.RankKiB)
}
