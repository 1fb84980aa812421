package ulfm

import (
	"errors"
	"fmt"
	"strings"
)

// The error classes of ULFM (R6).
var (
	// ErrProcFailed reports that an operation cannot complete because a process that the operation
	// needs has failed.
	ErrProcFailed = errors.New("process failed")

	// ErrProcFailedPending reports that a posted receive from any rank might have been waiting for
	// a process that failed. The request is still active (R49).
	ErrProcFailedPending = errors.New("process failed, request still active")

	// ErrRevoked reports that some member revoked the communicator.
	ErrRevoked = errors.New("communicator revoked")
)

// Error is an error of one operation on one communicator.
type Error struct {
	Op    string // the operation, in lower case: "recv"
	Comm  string // the communicator's name: "world"
	Ranks []int  // the ranks of Comm that the error concerns; may be empty
	Err   error  // the class, or an error that wraps it
}

// Error returns one line: "recv on world from rank 3: process failed".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Comm != "" {
		b.WriteString(" on " + e.Comm)
	}
	if len(e.Ranks) > 0 {
		b.WriteString(" " + preposition(e.Op) + " " + rankList(e.Ranks))
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns the class, so that errors.Is finds the class.
func (e *Error) Unwrap() error { return e.Err }

// Recoverable reports whether a program can recover from err by revoke, agree and shrink: err is a
// failed process or a revocation.
func Recoverable(err error) bool {
	return errors.Is(err, ErrProcFailed) || errors.Is(err, ErrProcFailedPending) || errors.Is(err, ErrRevoked)
}

func preposition(op string) string {
	switch {
	case strings.HasSuffix(op, "send"):
		return "to"
	case strings.HasSuffix(op, "recv"), strings.HasSuffix(op, "probe"):
		return "from"
	}
	return "with"
}

// rankList names at most eight ranks, so that the line stays one.
func rankList(ranks []int) string {
	const shown = 8
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	text := strings.Trim(fmt.Sprint(ranks[:min(len(ranks), shown)]), "[]")
	text = "ranks " + strings.ReplaceAll(text, " ", ", ")
	if more := len(ranks) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
