package member

// Flaws are rules left out on purpose, so that the simulator can show that each
// of them is needed. Production sets none, and is built without the tag
// "sabotage": then they do nothing.
type Flaws struct {
	RevokeEndsNothing bool // a revocation leaves the creations that wait as they are (R13)
	EndInSilence      bool // who hears that the closing agreement has decided tells nobody (see Comm.ended)
}
