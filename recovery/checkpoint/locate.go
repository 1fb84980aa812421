package checkpoint

import "context"

// Host names a machine, as the processes that use a store name it.
type Host string

// Locator is what a Store is besides that knows where its files are.
type Locator interface {
	// Locate returns the hosts that have all of a file now, each once and in an order of their
	// names. Some that have it may be left out. A file that is not there is fs.ErrNotExist.
	Locate(ctx context.Context, key string) ([]Host, error)
}

// Locate returns the hosts that have a file, so that who reads it can be started at one of them:
// none if the store does not know, as that of Dir, whose folder all nodes see.
func Locate(ctx context.Context, s Store, key string) ([]Host, error) {
	l, ok := s.(Locator)
	if !ok {
		return nil, ctx.Err()
	}
	return l.Locate(ctx, key)
}
