//go:build race

package park

import "sync"

// A Lock is a mutex that the race detector knows.
type Lock struct{ mu sync.Mutex }

// Lock takes the lock.
func (l *Lock) Lock() {
	if !l.mu.TryLock() {
		mustNotWait()
		l.mu.Lock()
	}
}

// TryLock reports whether it has taken the lock.
func (l *Lock) TryLock() bool { return l.mu.TryLock() }

// Unlock releases the lock.
func (l *Lock) Unlock() { l.mu.Unlock() }
