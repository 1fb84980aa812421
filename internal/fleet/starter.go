package fleet

// A Starter starts the daemon of a node.
type Starter interface {
	// Start starts it, and has it read bootstrap, a line: by its standard input, or where a job engine has
	// started it before, by the connection on which it waits. End ends what it has started on this machine.
	// Failed is told why the daemon has ended, should it.
	Start(node int, name string, bootstrap []byte, failed func(error)) (end func(), err error)
}
