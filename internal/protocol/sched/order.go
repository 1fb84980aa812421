package sched

import "fmt"

// An Order says how the world treats messages in one execution of all ranks.
type Order struct {
	Send Mode
	Pick Pick
	Seed uint64 // of Random picks and Mixed modes
}

// Mode says when a Send is complete.
type Mode uint8

// Pick says which of the events that could come next does.
type Pick uint8

// Eager completes a Send without its receiver: what it reads is taken when it
// starts. Rendezvous completes it after the receiver has it all: it is read at
// the last moment. Mixed draws for each message.
const (
	Eager Mode = iota
	Rendezvous
	Mixed
)

// Oldest and Newest pick the event possible for longest or shortest.
const (
	Oldest Pick = iota
	Newest
	Random
)

func (o Order) String() string {
	return fmt.Sprintf("%s, %s event first, seed %d",
		[...]string{"eager", "rendezvous", "mixed"}[o.Send], [...]string{"oldest", "newest", "random"}[o.Pick], o.Seed)
}

// Orders returns the two extremes and as many seeded orders between them.
func Orders(seeded int) []Order {
	o := []Order{{Send: Rendezvous, Pick: Newest}, {Send: Eager, Pick: Oldest}}
	for i := range seeded {
		o = append(o, Order{Mixed, Random, uint64(i + 1)})
	}
	return o
}
