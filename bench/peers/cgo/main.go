//go:build mpi

// The cgo twin of bench/measure/p2p: the figures of a Go program that calls an MPI library. The
// twin needs cgo and an MPI compiler, and is in no build without its tag:
//
//	CGO_ENABLED=1 CC=mpicc go build -tags mpi ./bench/peers/cgo
//
// Buffers and requests are in C's memory: cgo requires this of memory that a library keeps after a
// call returns. Nothing else is faster than in a plain program: there is one call through cgo for
// each call of MPI.
package main

/*
#include <mpi.h>
#include <stdlib.h>
// The constants of an MPI library may be casts, which cgo cannot read.
static MPI_Comm world(void) { return MPI_COMM_WORLD; }
static MPI_Datatype bytes(void) { return MPI_BYTE; }
static MPI_Datatype doubles(void) { return MPI_DOUBLE; }
static MPI_Status *no_status(void) { return MPI_STATUS_IGNORE; }
static MPI_Status *no_statuses(void) { return MPI_STATUSES_IGNORE; }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

const (
	window   = 64
	rateSize = 8
	dataTag  = 1
	ackTag   = 2
)

var (
	world       C.MPI_Comm
	bytes       C.MPI_Datatype
	noStatus    *C.MPI_Status
	noStatuses  *C.MPI_Status
	rank, ranks C.int
)

func main() {
	runtime.LockOSThread() // an MPI library without threads must be called by one thread
	C.MPI_Init(nil, nil)
	world, bytes, noStatus, noStatuses = C.world(), C.bytes(), C.no_status(), C.no_statuses()
	C.MPI_Comm_rank(world, &rank)
	C.MPI_Comm_size(world, &ranks)
	p, err := plan.Parse("cgo", "Latency, bandwidth and message rate through cgo.",
		[]string{"latency", "bandwidth", "bibandwidth", "rate"}, "0,1,8,64,512,1K,4K,16K,64K,256K,1M,4M", os.Args[1:])
	if err != nil || ranks < 2 {
		fmt.Fprintln(os.Stderr, "cgo: want 2 ranks and good flags:", err)
		os.Exit(2)
	}
	out := new(record.Writer)
	if rank == 0 {
		out = record.NewWriter(os.Stdout, p.Format)
	}
	for _, op := range p.Ops {
		for _, size := range p.Sizes {
			if op == "rate" {
				size = rateSize
			}
			if size > 0 || op == "latency" {
				measure(p, out, op, size)
			}
			if op == "rate" {
				break
			}
		}
	}
	C.MPI_Finalize()
}

// A pair is this rank's side.
type pair struct {
	other        C.int
	size         C.int
	out, in, ack unsafe.Pointer
	sends, recvs *[window]C.MPI_Request
}

func newPair(size int) *pair {
	requests := func() *[window]C.MPI_Request {
		return (*[window]C.MPI_Request)(C.malloc(C.size_t(unsafe.Sizeof([window]C.MPI_Request{}))))
	}
	room := C.size_t(max(size, 1))
	return &pair{other: 1 - rank, size: C.int(size), out: C.calloc(room, 1), in: C.calloc(room, 1), ack: C.calloc(1, 1),
		sends: requests(), recvs: requests()}
}

func (p *pair) free() {
	for _, m := range []unsafe.Pointer{p.out, p.in, p.ack, unsafe.Pointer(p.sends), unsafe.Pointer(p.recvs)} {
		C.free(m)
	}
}

func (p *pair) send() { C.MPI_Send(p.out, p.size, bytes, p.other, dataTag, world) }
func (p *pair) recv() { C.MPI_Recv(p.in, p.size, bytes, p.other, dataTag, world, noStatus) }

func (p *pair) latency(iters int) {
	for range iters {
		if rank == 0 {
			p.send()
			p.recv()
		} else {
			p.recv()
			p.send()
		}
	}
}

func (p *pair) isendAll() {
	for i := range p.sends {
		C.MPI_Isend(p.out, p.size, bytes, p.other, dataTag, world, &p.sends[i])
	}
}

func (p *pair) irecvAll() {
	for i := range p.recvs {
		C.MPI_Irecv(p.in, p.size, bytes, p.other, dataTag, world, &p.recvs[i])
	}
}

func wait(requests *[window]C.MPI_Request) { C.MPI_Waitall(window, &requests[0], noStatuses) }

func (p *pair) bandwidth(iters int) {
	for range iters {
		if rank == 0 {
			p.isendAll()
			wait(p.sends)
			C.MPI_Recv(p.ack, 1, bytes, p.other, ackTag, world, noStatus)
		} else {
			p.irecvAll()
			wait(p.recvs)
			C.MPI_Send(p.ack, 1, bytes, p.other, ackTag, world)
		}
	}
}

func (p *pair) bibandwidth(iters int) {
	for range iters {
		p.irecvAll()
		p.isendAll()
		wait(p.sends)
		wait(p.recvs)
	}
}

func measure(pl plan.Plan, out *record.Writer, op string, size int) {
	p := newPair(size)
	defer p.free()
	loop := map[string]func(int){"latency": p.latency, "bandwidth": p.bandwidth, "bibandwidth": p.bibandwidth, "rate": p.bandwidth}[op]
	if rank > 1 {
		loop = func(int) {}
	}
	iters := iterations(pl, size, loop)
	r := record.Record{Bench: op, N: int(ranks), Size: size, Unit: record.MBps}
	for range pl.Batches {
		each := once(loop, iters).Seconds() / float64(iters)
		switch op {
		case "latency":
			r.Unit, each = record.Micros, each/2*1e6
		case "bandwidth":
			each = window * float64(size) / each / 1e6
		case "bibandwidth":
			each = 2 * window * float64(size) / each / 1e6
		case "rate":
			r.Unit, each = record.Messages, window/each/1e6
		}
		r.Batches = append(r.Batches, each)
	}
	if err := out.Write(r); err != nil {
		fmt.Fprintln(os.Stderr, "cgo:", err)
	}
}

func once(loop func(int), iters int) time.Duration {
	C.MPI_Barrier(world)
	start := time.Now()
	loop(iters)
	return time.Since(start)
}

// iterations makes the same trials as the other programs.
func iterations(p plan.Plan, size int, loop func(int)) int {
	if p.Iters > 0 {
		loop(max(1, p.Iters/10))
		return p.Iters
	}
	loop(plan.WarmUp(size))
	for iters := 1; ; {
		took := C.double(min(once(loop, iters), once(loop, iters)))
		C.MPI_Bcast(unsafe.Pointer(&took), 1, C.doubles(), 0, world)
		next, done := p.Next(iters, time.Duration(took))
		if done {
			return next
		}
		iters = next
	}
}
