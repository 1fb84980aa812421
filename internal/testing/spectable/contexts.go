package spectable

// A Context is the effect of the end of a context on some calls.
type Context struct {
	Calls  string
	Before string // the context is over when the call is made
	During string // the context ends while the call waits
	Tests  []string
}

// Contexts are the calls that take a context.
func Contexts() []Context {
	return []Context{
		{"Send, Ssend, SendValue", "nothing is sent", "withdrawn; after a match the send completes and succeeds", []string{"comm.TestSpecContextSend", "comm.TestSpecContextMatchedSend"}},
		{"Recv, RecvValue, Probe, Mprobe", "nothing is received", "withdrawn: the message stays for the next receive", []string{"comm.TestSpecContextReceive"}},
		{"Mrecv", "nothing is received, the message stays claimed", "ignored: the message has matched", []string{"comm.TestSpecContextMatchedReceive"}},
		{"SendRecv, SendRecvReplace", "nothing is sent or received", "each half as above; the message of a send that could be buffered at once stays sent", []string{"comm.TestSpecContextSendRecv", "comm.TestSpecContextSendRecvHalfOver"}},
		{"Wait, WaitAll, WaitAny, WaitSome", "finished requests are reported, the others stay active", "the requests stay active", []string{"comm.TestSpecContextWait", "comm.TestSpecContextPending", "collectives.TestSpecContextWaitForACollective"}},
		{"Agree, AgreeFailed, Shrink, creation of a communicator", "returns at once with ErrNotBegun: contributes nothing and uses no sequence number, so the others wait for this member's call", "gives up only the wait: the contribution stands, the result is dropped", []string{"comm.TestSpecContextAgreementBefore", "comm.TestSpecContextAgreementDuring", "comm.TestSpecC4OverlappingRecoveries"}},
		{"blocking collectives", "revokes the communicator: the others get the revoked error", "revokes the communicator: the others get the revoked error", []string{"collectives.TestSpecContextBeforeACollective", "collectives.TestSpecContextInsideACollective"}},
		{"Finalize", "gives up only the wait", "gives up only the wait; Finalize may be called again", []string{"comm.TestSpecContextFinalize"}},
		{"Init", "no world is made", "ignored", []string{"comm.TestSpecContextInit"}},
		{"all of these", "the error wraps the context's error", "the error names the ranks that the call waited for; none where any rank could end the wait", []string{"comm.TestSpecContextNamesWhomItWaitedFor"}},
	}
}
