package rma

// Told returns the number of deaths that this member has sent to a target before its requests.
func (w *Win[T]) Told(rank int) int { return int(w.k.remote[rank].told.Load()) }

// Decisive is decisive.
var Decisive = decisive
