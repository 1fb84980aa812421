package comm

import "context"

// Self returns a communicator of this process alone, made from w, for libraries that require one:
// no other process takes part, and Self does not wait. Each call returns a new communicator, to be
// freed like others. w may be any communicator. Errors are those of CreateGroup: on a revoked
// communicator ErrRevoked. MPI 7.2.4 (MPI_COMM_SELF).
func Self(w *Comm) (*Comm, error) {
	if w == nil {
		return nil, fail("create_group", nil, nil, errNoComm)
	}
	number := w.w.proc.Number()
	c, err := w.CreateGroup(context.Background(), Group{procs: []int{number}, me: number}, 0)
	if c != nil {
		c.SetName("self")
	}
	return c, err
}
