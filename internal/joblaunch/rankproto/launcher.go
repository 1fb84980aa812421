package rankproto

import "context"

// A Launcher is who starts processes for a rank.
type Launcher interface {
	// Ask has processes started, and waits for the answer, or until ctx is over: then late gets
	// the answer when it comes.
	Ask(ctx context.Context, m Spawn, late func(Spawned)) (Spawned, error)
	// Say tells whether they are wanted: Keep or Drop.
	Say(m Message)
	// Note is Say for a message that can wait until a repair is over. It is sent at the latest with
	// the next message of Say or Ask, and before it.
	Note(m Message)
}
