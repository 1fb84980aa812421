package cluster

import (
	"runtime"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// TestDetectors runs each kind of detector, and checks that its kind of fault occurs.
func TestDetectors(t *testing.T) {
	for _, d := range []Detector{Exact, Ring, Wild} {
		t.Run(d.String(), func(t *testing.T) {
			total, err := RunMany(Options{Seed: *seed, NMax: 16, Detector: d}, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= 60 })
			if err != nil {
				t.Fatal(err)
			}
			if total.Deaths < 50 || total.Received < 300 || (total.Fenced > 0) != (d == Wild) {
				t.Errorf("%d deaths, %d fenced, %d messages received", total.Deaths, total.Fenced, total.Received)
			}
		})
	}
}

// TestMatrix: in a few runs every fault happens in most phases. The command goulfm sim -matrix
// checks that none is missing.
func TestMatrix(t *testing.T) {
	longtest.Skip(t, "120 large clusters")
	total, err := RunMany(Options{Seed: *seed}, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= 120 })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", total.Matrix.String())
	if empty := total.Matrix.Empty(); len(empty) > 20 {
		t.Errorf("%d empty cells: %s", len(empty), strings.Join(empty, "; "))
	}
	if got := new(Matrix).Empty(); len(got) != int(hazards)*int(phases) {
		t.Errorf("the empty matrix has %d empty cells", len(got))
	}
}

// wrongs are faults that a correct host never has. The checks must detect them.
var wrongs = []struct {
	name     string
	detector Detector
	want     string // invariants
	do       func(s *simulation, ev event) (events []event)
}{
	{"a message comes twice", Exact, "I10 I11 I13", func(_ *simulation, ev event) []event {
		if ev.kind != message {
			return []event{ev}
		}
		return []event{ev, ev}
	}},
	{"a message is lost", Exact, "I2 I10", func(s *simulation, ev event) []event {
		if ev.kind == message && ev.data.seq == 0 {
			return nil
		}
		return []event{ev}
	}},
	{"contents are wrong", Exact, "I11", func(_ *simulation, ev event) []event {
		if ev.kind == message {
			d := *ev.data
			d.contents++
			ev.data = &d
		}
		return []event{ev}
	}},
	{"a chunk is lost", Exact, "I2", func(_ *simulation, ev event) []event {
		if ev.kind == piece {
			return nil
		}
		return []event{ev}
	}},
	{"a chunk is another one", Exact, "I11", func(_ *simulation, ev event) []event {
		if ev.kind == piece {
			c := *ev.chunk
			c.words = make([]uint64, len(c.words))
			ev.chunk = &c
		}
		return []event{ev}
	}},
	{"a death is not told", Exact, "I2 I5", func(_ *simulation, ev event) []event {
		if ev.kind == notice && ev.proc%2 == 0 {
			return nil
		}
		return []event{ev}
	}},
	{"one who lives is said to be dead", Exact, "I6", func(s *simulation, ev event) []event {
		if ev.kind == arrival && s.report.Steps == 200 {
			return []event{ev, {at: ev.at, kind: notice, proc: ev.proc, other: ev.other}}
		}
		return []event{ev}
	}},
	{"control frames are lost", Exact, "I2 I8", func(s *simulation, ev event) []event {
		if ev.kind == arrival && s.report.Steps%10 == 0 {
			return nil
		}
		return []event{ev}
	}},
	{"heartbeats are late", Ring, "I6", func(s *simulation, ev event) []event {
		if ev.kind == arrival && ev.other == 1 && s.now < 6000*mono.Time(mono.Microsecond) {
			return nil
		}
		return []event{ev}
	}},
	{"a heartbeat timer is not heard", Ring, "I2 I5 I6", func(_ *simulation, ev event) []event {
		if ev.kind == timer && ev.proc == 0 {
			return nil
		}
		return []event{ev}
	}},
}

// TestChecksSee: each faulty host is found in few runs, by one of the invariants that forbid its
// fault.
func TestChecksSee(t *testing.T) {
	for _, w := range wrongs {
		t.Run(w.name, func(t *testing.T) {
			for seed := range uint64(60) {
				s := newSimulation(Options{Seed: seed, NMax: 8, Detector: w.detector})
				s.tamper = func(ev event) []event { return w.do(s, ev) }
				s.run()
				v := s.violation
				if v == nil {
					continue
				}
				if !strings.Contains(" "+w.want+" ", " "+v.Invariant+" ") {
					t.Fatalf("found by %s: %s", v.Invariant, v.Text)
				}
				t.Logf("run %d, %s: %.150s", seed, v.Invariant, v.Text)
				return
			}
			t.Error("not found in 60 runs")
		})
	}
}

// TestPanicIsAViolation: the violation names the run, and can be replayed and shrunk.
func TestPanicIsAViolation(t *testing.T) {
	s := newSimulation(Options{Seed: 3, N: 3})
	s.tamper = func(event) []event { panic("a rule's own assertion") }
	s.runToPanic()
	if v := s.violation; v == nil || v.Invariant != "assert" || !strings.Contains(v.Error(), "a rule's own assertion") || !strings.Contains(v.Error(), "-replay 3") {
		t.Errorf("%v", s.violation)
	}
}

// TestDiagram: every death and every decision of a run is in its diagram, and each line has a
// column for each process.
func TestDiagram(t *testing.T) {
	for seed := range uint64(20) {
		var d Diagram
		report, err := Run(Options{Seed: seed, N: 5, Diagram: &d})
		if err != nil {
			t.Fatal(err)
		}
		text := d.Text()
		if dies := strings.Count(text, ": dies\n"); dies != report.Deaths {
			t.Errorf("seed %d: %d of %d deaths drawn", seed, dies, report.Deaths)
		}
		if decides := strings.Count(text, ": decides "); decides != report.Decisions {
			t.Errorf("seed %d: %d of %d decisions drawn", seed, decides, report.Decisions)
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
			columns, _, ok := strings.Cut(line, ": ")
			if !ok || len([]rune(columns)) > 12+1+3*5+5 {
				t.Fatalf("seed %d: %q", seed, line)
			}
		}
		if picture := d.SVG(); strings.Count(picture, "<circle") < report.Decisions {
			t.Errorf("seed %d: the picture lacks decisions", seed)
		}
	}
}

// TestParseCase: the error of a wrong script names the wrong part of the line.
func TestParseCase(t *testing.T) {
	uid := strings.Repeat("5a", 16)
	good := Case{Seed: 3, swarm: drawSwarm(world.NewTape(1), Options{})}.Script()
	if _, err := ParseCase(good); err != nil {
		t.Fatal(err)
	}
	for add, want := range map[string]string{
		"fault flood proc=1 step=1":    `fault "flood"`,
		"fault crash proc=99 step=1":   "out of range",
		"fault crash proc=0":           "out of range",
		"fault crash who=1":            "no such name",
		"swarm n=1":                    "lacks something",
		"swarm n=x":                    "n=x",
		"swarm detector=none":          "want drawn",
		"seed":                         "seed of what",
		"fault pause for=3parsec":      "duration",
		"weather fine":                 "no such line",
		"part of 9 names 1,2":          "names [1 2] of 9",
		"part of 9":                    "no such line",
		"part skip 00 repair 1":        `uid "00"`,
		"part delays x":                "x",
		"part roll " + uid + " 1,y":    `list "1,y"`,
		"part skip " + uid + " talk 1": "no such operation",
	} {
		if _, err := ParseCase(good + add + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", add, err, want)
		}
	}
}
