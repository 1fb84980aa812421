package collectives

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Environment variables that choose for all communicators of the process. They must
// be the same at all processes of a job, as the launcher makes them.
const (
	tableVariable        = "GOULFM_COLL_TABLE"
	choiceVariable       = "GOULFM_COLL"
	reproducibleVariable = "GOULFM_REPRODUCIBLE"
)

// settings are the choices of a program, which override the shipped table.
type settings struct {
	tables       []*table // earlier tables take precedence
	reproducible bool
	err          error
	// answers has, for each verb, the last question about memory and its answer: a program
	// that asks again and again asks the same.
	answers  [verbs]atomic.Uint64
	variants variants
}

// environment holds the settings that the first call has read: they do not change during a process.
// A sync.OnceValue would be slower.
var environment atomic.Pointer[settings]

func readEnvironment(get func(string) string, read func(string) ([]byte, error)) *settings {
	s := new(settings)
	if spec := get(choiceVariable); spec != "" {
		s.add(choiceVariable, func() (*table, error) { return readSpec(spec) })
	}
	if path := get(tableVariable); path != "" {
		s.add(tableVariable+"="+path, func() (*table, error) {
			text, err := read(path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", comm.ErrUnsupported, err)
			}
			return readTable(text)
		})
	}
	switch v := get(reproducibleVariable); v {
	case "", "0":
	case "1":
		s.reproducible = true
	default:
		s.err = fmt.Errorf("%w: %s=%s: want 1 or 0", comm.ErrUnsupported, reproducibleVariable, v)
	}
	return s
}

// add appends a table to the tables of s. An error names the source of the table.
func (s *settings) add(from string, read func() (*table, error)) {
	t, err := read()
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s: %w", from, err)
	}
	if err == nil {
		s.tables = append(s.tables, t)
	}
}

// ofProcess are the settings of the process.
func ofProcess() *settings {
	if s := environment.Load(); s != nil {
		return s
	}
	environment.CompareAndSwap(nil, readEnvironment(os.Getenv, os.ReadFile))
	return environment.Load()
}

// fixed are the algorithms that reduce in the reproducible order.
var fixed = map[string]bool{"reduce/in-order": true, "allreduce/reduce-bcast": true, "reduce-scatter/linear": true, "scan/linear": true, "exscan/linear": true}

// A question has all inputs on which a choice may depend.
type question struct {
	verb         sched.Verb
	ranks, bytes int
	crowded      bool
	direct       bool
	nodes        bool // the members are on several nodes
	perNode      int  // members on the node with most of them
	memory       bool // the call can go through memory
	commutative  bool
	layout       sched.Layout
	reproducible bool
}

// payload is the number of bytes that a member publishes at once in memory, for a verb with whole
// payloads; 0 for other verbs.
func (q *question) payload() int {
	switch q.verb {
	case sched.Gather, sched.Allgather:
		return q.bytes
	case sched.Scatter, sched.Alltoall, sched.ReduceScatter:
		return min(q.bytes, nodecoll.PayloadBytes+1) * q.ranks
	}
	return 0
}

// pulled reports whether members can copy larger blocks of the verb directly from each other's
// memory.
func (q *question) pulled() bool {
	return q.direct && (q.verb == sched.Scatter || q.verb == sched.Allgather || q.verb == sched.Alltoall)
}

// unknownBytes is the number of bytes of a collective whose members know only their own part.
const unknownBytes = 1 << 62

// fitsMemory reports whether blocks are not too large for memory.
func (q *question) fitsMemory() bool { return q.payload() <= nodecoll.PayloadBytes || q.pulled() }

// goesThroughMemory reports whether a blocking call among members that share memory, on one node,
// uses that memory.
func (s *settings) goesThroughMemory(verb sched.Verb, bytes, ranks int, crowded, direct bool) bool {
	const answered, yes, isCrowded, isDirect = 1, 2, 4, 8
	asked := uint64(bytes)<<20 | uint64(ranks)<<4 | answered
	if crowded {
		asked |= isCrowded
	}
	if direct {
		asked |= isDirect
	}
	fits := bytes < 1<<44 && ranks < 1<<16
	kept := &s.answers[verb]
	if v := kept.Load(); v&^yes == asked && fits {
		return v&yes != 0
	}
	q := question{verb: verb, ranks: ranks, bytes: bytes, perNode: ranks, crowded: crowded, direct: direct, memory: true, commutative: true}
	memory := s.err == nil && s.pick(&q).algorithm == nil
	if fits {
		if memory {
			asked |= yes
		}
		kept.Store(asked)
	}
	return memory
}

// pick returns the first way that fits.
func (s *settings) pick(q *question) *way {
	q.reproducible = s.reproducible && q.verb.Reduces()
	for _, t := range s.tables {
		if w := t.pick(q); w != nil {
			return w
		}
	}
	if w := shipped.pick(q); w != nil {
		return w
	}
	return last(q)
}

func (t *table) pick(q *question) *way {
	for i := range t[q.verb] {
		if w := &t[q.verb][i]; w.fits(q) {
			return w
		}
	}
	return nil
}

// last is a way that always fits: of each verb there is an algorithm that does.
func last(q *question) *way {
	for i := range algorithms {
		w := way{algorithm: &algorithms[i], number: lastNumber}
		if algorithms[i].Verb == q.verb && w.fits(q) {
			return &w
		}
	}
	return nil
}

// lastNumber is that of a way which no table has.
const lastNumber = 7

func (w *way) fits(q *question) bool {
	return (w.Ranks == 0 || q.ranks <= w.Ranks) && (w.Bytes == 0 || q.bytes <= w.Bytes) &&
		(w.PerNode == 0 || q.perNode <= w.PerNode) && (w.Nodes == nil || *w.Nodes == q.nodes) &&
		(w.Crowded == nil || *w.Crowded == q.crowded) && (w.Direct == nil || *w.Direct == q.direct) &&
		w.can(q)
}

// can reports whether the algorithm can perform the request.
func (w *way) can(q *question) bool {
	a := w.algorithm
	if a == nil {
		return q.memory && !q.reproducible && q.layout == sched.Uniform && q.fitsMemory()
	}
	return (q.commutative || !a.Commutative) && (!a.Even || q.ranks%2 == 0 || q.ranks == 1) && a.Blocks >= q.layout &&
		(!q.reproducible || fixed[a.Name])
}
