package remotedaemon

import "errors"

// ErrTooLate is why a daemon does not take part in a job that runs.
var ErrTooLate = errors.New("the job goes on without this node")
