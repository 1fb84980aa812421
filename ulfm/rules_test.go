package ulfm

import (
	"errors"
	"fmt"
	"testing"
)

// TestEntryTable is the table of docs/SEMANTICS.md (R6, R7, R13, R14, R45-R58), one row for each
// class of operations. The columns are the error if the named peer is dead, if an unacknowledged
// member is dead, if an acknowledged member is dead, and if the communicator is revoked.
func TestEntryTable(t *testing.T) {
	failed, pending, revoked := ErrProcFailed, ErrProcFailedPending, ErrRevoked
	rows := []struct {
		rule                       string
		op                         Op
		peer, unacked, acked, revo error
	}{
		{"R45", OpSend, failed, nil, nil, revoked},
		{"R46", OpRecvNamed, failed, nil, nil, revoked},
		{"R48", OpRecvAny, failed, failed, nil, revoked},
		{"R49", OpRecvAnyPosted, pending, pending, nil, revoked},
		{"R48", OpProbe, failed, nil, nil, revoked},
		{"R48", OpProbeAny, failed, failed, nil, revoked},
		{"R55", OpCollective, failed, failed, failed, revoked},
		{"R56", OpCreate, nil, nil, nil, revoked},
		{"R32", OpAgree, nil, nil, nil, nil},
		{"R40", OpShrink, nil, nil, nil, nil},
		{"R14", OpLocal, nil, nil, nil, nil},
	}
	for _, r := range rows {
		states := map[State]error{
			{}:                                 nil,
			{AnyDead: true}:                    r.acked,
			{AnyDead: true, PeerDead: true}:    wants(r.op, r.peer, r.acked),
			{AnyDead: true, UnackedDead: true}: r.unacked,
			{AnyDead: true, UnackedDead: true, PeerDead: true}: r.peer,
		}
		for st, want := range states {
			if got := Entry(r.op, st); got != want {
				t.Errorf("%s: op %d in %+v: %v, want %v", r.rule, r.op, st, got, want)
			}
			st.Revoked = true // R7: checked first
			if got := Entry(r.op, st); r.revo != nil && got != r.revo || r.revo == nil && got != want {
				t.Errorf("%s: op %d in %+v: %v", r.rule, r.op, st, got)
			}
		}
	}
	if len(rows) != int(OpLocal)+1 {
		t.Errorf("%d rows for %d classes", len(rows), OpLocal+1)
	}
}

// wants returns the error that the death of an acknowledged peer raises: wildcard operations do not
// name that peer (R22), the others do.
func wants(op Op, peer, acked error) error {
	switch op {
	case OpRecvAny, OpRecvAnyPosted, OpProbeAny:
		return acked
	}
	return peer
}

func TestErrorIsOneLine(t *testing.T) {
	many := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for want, e := range map[string]*Error{
		"recv on world from rank 3: process failed":                          {Op: "recv", Comm: "world", Ranks: []int{3}, Err: ErrProcFailed},
		"send on world to rank 0: communicator revoked":                      {Op: "send", Comm: "world", Ranks: []int{0}, Err: ErrRevoked},
		"allreduce on dup: process failed":                                   {Op: "allreduce", Comm: "dup", Err: ErrProcFailed},
		"agree with ranks 1, 2, 3, 4, 5, 6, 7, 8 and 2 more: process failed": {Op: "agree", Ranks: many, Err: ErrProcFailed},
		"iprobe on w from ranks 1, 2: process failed, request still active":  {Op: "iprobe", Comm: "w", Ranks: []int{1, 2}, Err: ErrProcFailedPending},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if !errors.Is(e, e.Err) {
			t.Errorf("%v does not unwrap to its class", e)
		}
	}
}

func TestRecoverable(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, ErrProcFailed: true, ErrProcFailedPending: true, ErrRevoked: true,
		errors.New("other"):                                              false,
		&Error{Op: "recv", Err: ErrRevoked}:                              true,
		fmt.Errorf("step 3: %w", &Error{Op: "recv", Err: ErrProcFailed}): true,
	} {
		if got := Recoverable(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
