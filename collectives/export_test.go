package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
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
	return newNeighborAllgather(twin, c, topology{in: in, out: out}, true, dst, src).start()
}

func IneighborAllgathervOn[T comm.Elem](c *comm.Comm, in, out []int, dst []T, counts, displs []int, src []T) comm.Request {
	return newNeighborAllgatherv(twin, c, topology{in: in, out: out}, true, dst, counts, displs, src).start()
}

func IneighborAlltoallOn[T comm.Elem](c *comm.Comm, in, out []int, dst, src []T) comm.Request {
	return newNeighborAlltoall(twin, c, topology{in: in, out: out}, true, dst, src).start()
}

func IneighborAlltoallvOn[T comm.Elem](c *comm.Comm, in, out []int, dst []T, rcounts, rdispls []int, src []T, scounts, sdispls []int) comm.Request {
	return newNeighborAlltoallv(twin, c, topology{in: in, out: out}, true, dst, rcounts, rdispls, src, scounts, sdispls).start()
}

// AlgorithmsOf are the names that With takes for a verb, shared memory first where it
// can be.
func AlgorithmsOf(verb string) []string { return namesOf(verb) }
