package window

// A Place says where memory of a program lies, for processes of its node that have the kernel copy
// from there. It can be sent as it lies in memory.
type Place struct {
	Pid     uint64 // 0: nobody is to look there
	At      uint64 // the address of the memory
	TokenAt uint64 // the address of its token
}

// A Source is memory of another process from which the kernel copies. Copies are made while that
// process computes; its memory is not mapped here. The zero Source has none.
type Source struct {
	place Place
	token Token
}

// HasMemory says whether there is anything to copy from.
func (s *Source) HasMemory() bool { return s.place.Pid != 0 }
