package ulfm_test

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/ulfm"
)

// A peer has died, and no failure is acknowledged. A send to this peer and a receive from any rank
// fail, and a shrink works. After a revocation the send fails for the revocation.
func ExampleEntry() {
	st := ulfm.State{PeerDead: true, UnackedDead: true, AnyDead: true}
	fmt.Println("send:", ulfm.Entry(ulfm.OpSend, st))
	fmt.Println("posted receive:", ulfm.Entry(ulfm.OpRecvAnyPosted, st))
	fmt.Println("shrink:", ulfm.Entry(ulfm.OpShrink, st))
	st.Revoked = true
	fmt.Println("send:", ulfm.Entry(ulfm.OpSend, st))
	fmt.Println("shrink:", ulfm.Entry(ulfm.OpShrink, st))
	// Output:
	// send: process failed
	// posted receive: process failed, request still active
	// shrink: <nil>
	// send: communicator revoked
	// shrink: <nil>
}

// A program repairs its communicator after a failure, and stops after its own mistakes.
func ExampleRecoverable() {
	for _, err := range []error{
		&ulfm.Error{Op: "recv", Comm: "world", Ranks: []int{3}, Err: ulfm.ErrProcFailed},
		fmt.Errorf("step 12: %w", &ulfm.Error{Op: "allreduce", Comm: "world", Err: ulfm.ErrRevoked}),
		errors.New("input.txt is empty"),
	} {
		fmt.Printf("%v: %t\n", err, ulfm.Recoverable(err))
	}
	// Output:
	// recv on world from rank 3: process failed: true
	// step 12: allreduce on world: communicator revoked: true
	// input.txt is empty: false
}
