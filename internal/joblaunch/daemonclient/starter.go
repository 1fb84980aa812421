package daemonclient

// A Doorkeeper is a Starter whom daemons reach also when the job runs.
type Doorkeeper interface {
	// Opens is told how one of them is invited: see Fleet.Invite.
	Opens(invite func(name string) (bootstrap []byte, ok bool))
}

// A Starter starts the daemon of a node.
type Starter interface {
	// Start starts it, and has it read bootstrap, a line: by its standard input, or where a job
	// engine has started it before, by the connection on which it waits. End ends what it has
	// started on this machine; a daemon that is lost gets no time to end by itself. Failed is told
	// why the daemon has ended, should it.
	Start(node int, name string, bootstrap []byte, failed func(error)) (end func(isLost bool), err error)
}
