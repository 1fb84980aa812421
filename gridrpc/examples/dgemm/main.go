// Command dgemm is a server that multiplies matrices: the application of the measurements in
// Bouteiller and Desprez, Fault tolerance management for a hierarchical GridRPC middleware.
//
//	gridrpc up ./examples/dgemm
//	gridrpc call dgemm '{"n":400}'
package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/goulfm/goulfm/gridrpc/server"

	_ "github.com/goulfm/goulfm/gridrpc/store/jetstream" // for "up --store jetstream"
	_ "github.com/goulfm/goulfm/gridrpc/store/s3"        // for "up --store s3://BUCKET"
)

// Request asks for C = A B of two n x n matrices that follow from the seed, Times times over.
type Request struct {
	N     int    `json:"n"`
	Seed  uint64 `json:"seed"`
	Times int    `json:"times"` // default 1: a longer call for trials
}

// Reply has the sum of all elements of C, and its deviation from the sum that follows from the row
// and column sums of A and B, relative to the sum of absolute values.
type Reply struct {
	Sum     float64 `json:"sum"`
	Error   float64 `json:"error"`
	Attempt int     `json:"attempt"`
	Server  string  `json:"server"`
}

// sizeMax keeps three matrices below 2 GB.
const sizeMax = 8192

func main() {
	server.Main(func(s *server.Server) error {
		return server.Register(s, "dgemm", multiply, server.Work(func(r *Request) float64 {
			return 2 * float64(r.N) * float64(r.N) * float64(r.N) * float64(max(1, r.Times))
		}))
	})
}

func multiply(ctx context.Context, c *server.Call, in *Request) (*Reply, error) {
	if in.N < 1 || in.N > sizeMax || in.Times < 0 {
		return nil, fmt.Errorf("n is %d, must be 1 to %d; times is %d, must be 0 or more", in.N, sizeMax, in.Times)
	}
	a, b := fill(in.N, in.Seed), fill(in.N, in.Seed+1)
	out := blas64.General{Rows: in.N, Cols: in.N, Stride: in.N, Data: make([]float64, in.N*in.N)}
	times, done := max(1, in.Times), 0
	if err := c.State("done", &done); err != nil { // the number of products at the last checkpoint
		return nil, err
	}
	defer c.CheckpointEvery(time.Second)()
	for done < times || out.Data[0] == 0 { // the product itself is in no checkpoint
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, out)
		done++
		c.Progress(float64(done), float64(times), "")
		if c.Due() {
			_, _ = c.CheckpointNow(ctx) // after an error the call continues, with less protection
		}
	}
	sum, deviation := check(a, b, out)
	if deviation > 1e-12 {
		return nil, fmt.Errorf("the product is wrong by %g", deviation)
	}
	return &Reply{Sum: sum, Error: deviation, Attempt: c.Attempt, Server: c.Server()}, nil
}

// fill returns a matrix of numbers below 1, which follow from the seed on any machine.
func fill(n int, seed uint64) blas64.General {
	m := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	x := seed*0x9e3779b97f4a7c15 + 1
	for i := range m.Data {
		x = x*6364136223846793005 + 1442695040888963407
		m.Data[i] = float64(x>>11) / (1 << 53)
	}
	return m
}

// check compares the sum of C with (column sums of A) times (row sums of B).
func check(a, b, c blas64.General) (sum, deviation float64) {
	n := a.Rows
	columns, rows := make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range n {
			columns[j] += a.Data[i*n+j]
			rows[i] += b.Data[i*n+j]
			sum += c.Data[i*n+j]
		}
	}
	want := blas64.Dot(blas64.Vector{N: n, Inc: 1, Data: columns}, blas64.Vector{N: n, Inc: 1, Data: rows})
	return sum, math.Abs(sum-want) / math.Abs(want)
}
