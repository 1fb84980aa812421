package rma

// Told returns of how many deaths this member has told a target before its requests.
func (w *Win[T]) Told(rank int) int { return int(w.k.remote[rank].told.Load()) }
