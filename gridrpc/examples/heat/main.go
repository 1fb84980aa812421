// Command heat is a server with goulfm jobs as calls: the temperature of a plate with a hot upper
// edge, computed by ranks that may die, at servers that may die.
//
//	go build -o bin/goulfm ../cmd/goulfm && export GRIDRPC_GOULFM=$PWD/bin/goulfm
//	gridrpc up ./examples/heat
//	gridrpc call --watch heat '{"nx":256,"ny":256,"steps":50000}'
//
// Kill a rank: the launcher reports that another process has taken its place. Kill the server: the
// call continues at another one. The checksum is the same, bit for bit, as without a death. With
// "gridrpc up ./examples/heat -hosts 3" each job has three nodes, and one of them may be killed,
// too.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/gridrpc/parallel"
	"github.com/goulfm/goulfm/gridrpc/parallel/rank"
	"github.com/goulfm/goulfm/gridrpc/server"
	"github.com/goulfm/goulfm/recovery"

	_ "github.com/goulfm/goulfm/gridrpc/store/jetstream" // for "up --store jetstream"
	_ "github.com/goulfm/goulfm/gridrpc/store/s3"        // for "up --store s3://BUCKET"
)

// Request asks for a number of steps on a plate.
type Request struct {
	NX    int `json:"nx"` // cells across
	NY    int `json:"ny"` // rows, at least as many as ranks
	Steps int `json:"steps"`
}

// Reply is the result of the steps.
type Reply struct {
	Checksum string `json:"checksum"` // of the bits of all cells
	From     int    `json:"from"`     // the step at which the last attempt of the job has begun
	Ranks    int    `json:"ranks"`
}

// ranks is the number of ranks of each call.
const ranks = 3

func main() {
	if rank.Is() {
		work()
		return
	}
	hosts := flag.String("hosts", "", "nodes of each job, as goulfm run --host has them: 3 are three on this machine")
	flag.Parse()
	server.Main(func(s *server.Server) error {
		return parallel.Register[Request, Reply](s, "heat", parallel.Job{Ranks: ranks, Hosts: *hosts},
			server.Work(func(r *Request) float64 { return float64(r.NX) * float64(r.NY) * float64(r.Steps) }))
	})
}

// Commits and files: a call that loses its server loses what was computed since the latest files.
const (
	commitEach = 20 // steps
	filesEach  = 25 // commits
)

// work runs one rank.
func work() {
	var in Request
	err := rank.Argument(&in)
	if err == nil && (in.NX < 1 || in.NY < ranks || in.Steps < 0) {
		err = fmt.Errorf("a plate of %d x %d and %d steps: want nx from 1, ny from %d and steps from 0 up", in.NX, in.NY, in.Steps, ranks)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "heat:", err)
		os.Exit(1)
	}
	files := rank.Files()
	files.Every = filesEach
	recovery.Main(recovery.Config{Every: commitEach, Files: files}, func(ctx context.Context, w *recovery.World) error {
		return (&solver{Request: in}).solve(ctx, w)
	})
}
