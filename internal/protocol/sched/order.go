package sched

import "fmt"

// An Order defines how the world treats messages in one execution of all ranks.
type Order struct {
	Send Mode
	Pick Pick
	Seed uint64 // of Random picks and Mixed modes
}

// Mode defines when a Send is complete.
type Mode uint8

// Pick defines which of the possible events comes next.
type Pick uint8

// Eager completes a Send without its receiver: the elements are read when the Send starts.
// Rendezvous completes a Send after the receiver has all elements: they are read at the last
// moment. Mixed draws for each message.
const (
	Eager Mode = iota
	Rendezvous
	Mixed
)

// Oldest and Newest pick the event that has been possible for the longest or the shortest time.
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
