package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// The collectives among neighbours, with neighbours from lists.

func NeighborAllgatherOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst, src []T) error {
	return newNeighborAllgather(ctx, c, topology{in: in, out: out}, true, dst, src).run()
}

func NeighborAllgathervOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst []T, counts, displs []int, src []T) error {
	return newNeighborAllgatherv(ctx, c, topology{in: in, out: out}, true, dst, counts, displs, src).run()
}

func NeighborAlltoallOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst, src []T) error {
	return newNeighborAlltoall(ctx, c, topology{in: in, out: out}, true, dst, src).run()
}

func NeighborAlltoallvOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst []T, rcounts, rdispls []int, src []T, scounts, sdispls []int) error {
	return newNeighborAlltoallv(ctx, c, topology{in: in, out: out}, true, dst, rcounts, rdispls, src, scounts, sdispls).run()
}

func IneighborAllgatherOn[T comm.Elem](c *comm.Comm, in, out []int, dst, src []T) comm.Request {
	return newNeighborAllgather(twinOf(nil), c, topology{in: in, out: out}, true, dst, src).start()
}

func IneighborAllgathervOn[T comm.Elem](c *comm.Comm, in, out []int, dst []T, counts, displs []int, src []T) comm.Request {
	return newNeighborAllgatherv(twinOf(nil), c, topology{in: in, out: out}, true, dst, counts, displs, src).start()
}

func IneighborAlltoallOn[T comm.Elem](c *comm.Comm, in, out []int, dst, src []T) comm.Request {
	return newNeighborAlltoall(twinOf(nil), c, topology{in: in, out: out}, true, dst, src).start()
}

func IneighborAlltoallvOn[T comm.Elem](c *comm.Comm, in, out []int, dst []T, rcounts, rdispls []int, src []T, scounts, sdispls []int) comm.Request {
	return newNeighborAlltoallv(twinOf(nil), c, topology{in: in, out: out}, true, dst, rcounts, rdispls, src, scounts, sdispls).start()
}

// AlgorithmsOf are the names that With takes for a verb, shared memory first where possible.
func AlgorithmsOf(verb string) []string { return namesOf(verb) }

// ChooseTwins chooses for the collectives that do not block, until restore is called, as
// With does for the others. Nobody may be starting one meanwhile.
func ChooseTwins(choice string) (restore func()) {
	old := unchosen
	unchosen = &twin{Context: context.Background(), settings: settingsOf(With(context.Background(), choice))}
	return func() { unchosen = old }
}

// Fits reports whether the only way of a choice is selected for a number of ranks, blocks of a
// length and a layout, and an operation of the package or one of the program that does not commute;
// a choice without a way always has one.
func Fits(choice string, ranks, blockBytes int, ordered bool, layout sched.Layout) bool {
	t, err := readSpec(choice)
	if err != nil {
		return false
	}
	for verb := range t {
		for _, w := range t[verb] {
			q := question{verb: sched.Verb(verb), ranks: ranks, bytes: blockBytes, commutative: !ordered, layout: layout, memory: !ordered}
			return w.can(&q)
		}
	}
	return true
}
