package checkpoint

import "context"

// Host names a machine, in the notation of the processes that use a store.
type Host string

// Locator is implemented by a Store that knows the hosts of its files.
type Locator interface {
	// Locate returns the hosts that now have all of a file, each once and sorted by name. Some of
	// these hosts may be left out. A missing file is fs.ErrNotExist.
	Locate(ctx context.Context, key string) ([]Host, error)
}

// Locate returns the hosts that have a file, so that its reader can be started at one of them. The
// result is empty if the store does not know, as for Dir, whose folder all nodes see.
func Locate(ctx context.Context, s Store, key string) ([]Host, error) {
	l, ok := s.(Locator)
	if !ok {
		return nil, ctx.Err()
	}
	return l.Locate(ctx, key)
}
