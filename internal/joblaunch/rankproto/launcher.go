package rankproto

import "context"

// A Launcher starts processes for a rank.
type Launcher interface {
	// Ask requests processes and waits for the answer, or until ctx is over. In the second case
	// late receives the answer when it comes.
	Ask(ctx context.Context, m Spawn, late func(Spawned)) (Spawned, error)
	// Say reports whether the processes are needed: Keep or Drop.
	Say(m Message)
	// Note is Say for a message that can wait until a repair is over. The message is sent at the
	// latest with the next message of Say or Ask, and before that message.
	Note(m Message)
}
