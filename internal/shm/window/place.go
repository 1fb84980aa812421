package window

// A Place is the address of a program's memory, for processes of its node that let the kernel copy
// from there. A Place can be sent byte by byte.
type Place struct {
	Pid     uint64 // 0: no process may copy from there
	At      uint64 // the address of the memory
	TokenAt uint64 // the address of its token
}

// A Source is memory of another process from which the kernel copies. The owner takes no part in a
// copy, and its memory is not mapped here. The zero Source has no memory.
type Source struct {
	place Place
	token Token
}

// HasMemory reports whether there is memory to copy from.
func (s *Source) HasMemory() bool { return s.place.Pid != 0 }
