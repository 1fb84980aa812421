package daemonclient

// A Doorkeeper is a Starter that daemons can also reach while the job runs.
type Doorkeeper interface {
	// Opens receives the function that invites one of them: see Client.Invite.
	Opens(invite func(name string) (bootstrap []byte, ok bool))
}

// A Starter starts the daemon of a node.
type Starter interface {
	// Start starts the daemon, which reads bootstrap, a line: from its standard input, or where a
	// job engine has started the daemon before, from the connection on which it waits. The result
	// end ends the processes that Start has started on this machine; a lost daemon gets no time to
	// end by itself. Start calls failed with the reason if the daemon ends.
	Start(node int, name string, bootstrap []byte, failed func(error)) (end func(isLost bool), err error)
}
