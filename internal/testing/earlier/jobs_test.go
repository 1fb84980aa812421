package earlier_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// A data is all that one rank of a job protects. Its values follow from the rank, the size and the
// step.
type data interface {
	members() []recovery.Member
	set(w *recovery.World, step int)
	step() int
}

// A job is a program that leaves versions.
type job struct {
	name   string
	ranks  int
	others []int       // other numbers of ranks that can restore its versions
	fresh  func() data // data before Protect
}

var jobs = []job{
	{"types", 3, nil, func() data { return new(types) }},
	{"smooth", 4, []int{1, 3, 6}, func() data { return new(smooth) }},
	{"rough", 2, nil, func() data { return new(rough) }},
	{"chunks", 2, []int{1, 5}, func() data { return new(chunks) }},
}

// types has members of each kind that recovery can protect, and each option.
type types struct {
	Step      int
	Vector    []float64
	Counts    []int32
	Letters   []byte
	Waves     []complex64
	Particles []particle
	Text      string
	Tally     tally
	Dice      rand.PCG // marshals itself
	Weights   []uint16 // the same at all ranks
	Matrix    []float32
	Begun     int64
	Done      []int
}

type particle struct {
	ID   int64
	Mass float64
}

type tally struct {
	Seen map[string]int
	Last string
	Flag *bool
}

func (d *types) members() []recovery.Member {
	return []recovery.Member{
		recovery.Value("step", &d.Step, recovery.Same()),
		recovery.Slice("vector", &d.Vector),
		recovery.Slice("counts", &d.Counts),
		recovery.Slice("letters", &d.Letters),
		recovery.Slice("waves", &d.Waves),
		recovery.Slice("particles", &d.Particles),
		recovery.Value("text", &d.Text),
		recovery.Value("tally", &d.Tally),
		recovery.Value("dice", &d.Dice),
		recovery.Slice("weights", &d.Weights, recovery.Same()),
		recovery.Slice("matrix", &d.Matrix, recovery.Static()),
		recovery.Value("begun", &d.Begun, recovery.Forward()),
		recovery.Slice("done", &d.Done, recovery.Own()),
	}
}

func (d *types) set(w *recovery.World, step int) {
	rank, yes := w.Rank(), true
	*d = types{Step: step, Begun: int64(step), Text: fmt.Sprintf("rank %d in step %d: äöü", rank, step)}
	for i := range 20 + rank {
		d.Vector = append(d.Vector, float64(1000*step+100*rank+i)/8)
		d.Counts = append(d.Counts, int32(-step*i))
		d.Letters = append(d.Letters, byte('a'+(i+step)%26))
		d.Waves = append(d.Waves, complex(float32(i), float32(-step)))
		d.Particles = append(d.Particles, particle{ID: int64(rank)<<40 + int64(i), Mass: float64(step) / 4})
	}
	for i := range 9 {
		d.Weights = append(d.Weights, uint16(step*i))
		d.Matrix = append(d.Matrix, float32(rank*i)) // the same in each step
	}
	for i := range step {
		d.Done = append(d.Done, 10*rank+i)
	}
	d.Tally = tally{Seen: map[string]int{"steps": step, "rank": rank}, Last: []string{"even", "odd"}[step%2]}
	if step%2 == 1 {
		d.Tally.Flag = &yes
	}
	d.Dice.Seed(uint64(rank), uint64(step))
}

func (d *types) step() int { return d.Step }

// smooth has rows of numbers that compress well, in more than one chunk a rank.
type smooth struct {
	Step int
	Grid []float64
}

const gridRows, gridWidth = 150, 1000

func (d *smooth) members() []recovery.Member {
	return []recovery.Member{
		recovery.Slice("grid", &d.Grid, recovery.Rows(gridRows, gridWidth)),
		recovery.Value("step", &d.Step, recovery.Same()),
	}
}

func (d *smooth) set(w *recovery.World, step int) {
	*d = smooth{Step: step}
	for lo, hi := w.Block(gridRows); lo < hi; lo++ {
		for range gridWidth {
			d.Grid = append(d.Grid, float64(1000*step+lo))
		}
	}
}

func (d *smooth) step() int { return d.Step }

// rough has numbers that do not compress.
type rough struct {
	Step  int
	Noise []uint64
}

func (d *rough) members() []recovery.Member {
	return []recovery.Member{
		recovery.Slice("noise", &d.Noise),
		recovery.Value("step", &d.Step, recovery.Same()),
	}
}

func (d *rough) set(w *recovery.World, step int) {
	*d = rough{Step: step}
	for at := range uint64(500) { // splitmix64
		x := (at + uint64(step)<<20 + uint64(w.Rank())<<40) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		d.Noise = append(d.Noise, x^x>>31)
	}
}

func (d *rough) step() int { return d.Step }

// chunks has rows in many short chunks, some of which are compressed. A job of recovery writes
// longer ones.
type chunks struct{ Rows []int64 }

const chunksRows, chunksWidth, chunksStep = 12, 5, 7

func (d *chunks) members() []recovery.Member {
	return []recovery.Member{recovery.Slice("rows", &d.Rows, recovery.Rows(chunksRows, chunksWidth))}
}

func (d *chunks) set(w *recovery.World, step int) {
	lo, hi := w.Block(chunksRows)
	d.Rows = chunksOf(lo, hi, step)
}

func chunksOf(lo, hi, step int) (rows []int64) {
	for row := lo; row < hi; row++ {
		for i := range chunksWidth {
			rows = append(rows, int64(step)<<32+int64(row%3*i))
		}
	}
	return rows
}

func (d *chunks) step() int { return chunksStep }

// goOn runs a job of n ranks in a world until it has made some steps and stopped, and returns its
// error. With steps 0 the job restores a version, passes it to found, and makes no step.
func (j job) goOn(ctx context.Context, w *comm.Comm, cfg recovery.Config, steps int, found func(w *recovery.World, d data)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cfg.Every, cfg.Files.Job = 1, j.name
	return recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
		d := j.fresh()
		d.set(w, 0)
		if _, err := w.Protect(ctx, d.members()...); err != nil {
			return err
		}
		if steps == 0 {
			found(w, d)
			return nil
		}
		made := 0
		for range w.Steps(ctx, 1000) {
			d.set(w, d.step()+1)
			if _, own := d.(*types); own {
				if err := w.Save(ctx, "done"); err != nil {
					return err
				}
			}
			if made++; made == steps && w.Rank() == 0 {
				stop()
			}
		}
		if errors.Is(w.Err(), recovery.ErrStopped) && w.Rank() == 0 {
			found(w, d)
		}
		return w.Err()
	})
}
