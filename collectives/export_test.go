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

func NeighborAllgathervOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst []T, blocks Blocks, src []T) error {
	return newNeighborAllgatherv(ctx, c, topology{in: in, out: out}, true, dst, blocks, src).run()
}

func NeighborAlltoallOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst, src []T) error {
	return newNeighborAlltoall(ctx, c, topology{in: in, out: out}, true, dst, src).run()
}

func NeighborAlltoallvOn[T comm.Elem](ctx context.Context, c *comm.Comm, in, out []int, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks) error {
	return newNeighborAlltoallv(ctx, c, topology{in: in, out: out}, true, dst, dstBlocks, src, srcBlocks).run()
}

func IneighborAllgatherOn[T comm.Elem](c *comm.Comm, in, out []int, dst, src []T) comm.Request {
	return newNeighborAllgather(unbound, c, topology{in: in, out: out}, true, dst, src).start()
}

func IneighborAllgathervOn[T comm.Elem](c *comm.Comm, in, out []int, dst []T, blocks Blocks, src []T) comm.Request {
	return newNeighborAllgatherv(unbound, c, topology{in: in, out: out}, true, dst, blocks, src).start()
}

func IneighborAlltoallOn[T comm.Elem](c *comm.Comm, in, out []int, dst, src []T) comm.Request {
	return newNeighborAlltoall(unbound, c, topology{in: in, out: out}, true, dst, src).start()
}

func IneighborAlltoallvOn[T comm.Elem](c *comm.Comm, in, out []int, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks) comm.Request {
	return newNeighborAlltoallv(unbound, c, topology{in: in, out: out}, true, dst, dstBlocks, src, srcBlocks).start()
}

// AlgorithmsOf are the names that Algorithm takes for a verb, shared memory first where possible.
func AlgorithmsOf(verb string) []string { return namesOf(verb) }

// Choose chooses as GOULFM_COLL does, until restore is called. No collective may be running at
// either time.
func Choose(choice string) (restore func()) {
	old, chosen := ofProcess(), new(settings)
	chosen.add("choice", func() (*table, error) { return readSpec(choice) })
	chosen.tables = append(chosen.tables, old.tables...)
	environment.Store(chosen)
	return func() { environment.Store(old) }
}

// Unknown is an Op without an operation, which programs cannot make.
func Unknown[T comm.Elem](sealed) (none operation[T]) { return none }

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
