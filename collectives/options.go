package collectives

import (
	"context"
	"maps"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// An Option changes one call: Algorithm or Reproducible makes one. All members of the communicator
// pass the same options to a call. The zero value changes nothing. A call without options has the
// settings of the process: see the package comment.
type Option struct {
	algorithm    string // empty: the tables of the process choose
	reproducible bool
}

// Algorithm selects the algorithm of one call, for example
//
//	err := collectives.Bcast(ctx, w, 0, buf, collectives.Algorithm("binomial:65536"))
//
// The syntax is the name of the algorithm, or name:segment with the bytes of a segment. The names
// are those of the operation in collectives/table.json; "memory" is the shared memory of a node.
// The v-forms and the Value, One and Loc forms take the names of the operation without the suffix.
// ReduceValue takes the names of gather, and the collectives of an intercommunicator those of
// neighbor-allgather or neighbor-alltoall, except InterBarrier. If the operation has no such
// algorithm, the call returns comm.ErrUnsupported, and the error lists the names.
//
// An algorithm that cannot perform the call is skipped: for example an algorithm for operations
// that commute, or without the fixed order that Reproducible requires. The call then chooses as
// without the option. Of several algorithms the last one counts, and an empty name selects none.
func Algorithm(name string) Option { return Option{algorithm: name} }

// Reproducible gives a reduction one fixed order that depends on the number of members alone. Sums
// of floats have the same bits in each run, for each length, at each root, over memory or messages.
// The fixed order is slower. GOULFM_REPRODUCIBLE=1 in the environment does the same for all calls
// of a process. Other collectives ignore the option.
func Reproducible() Option { return Option{reproducible: true} }

// merged returns all options of a call as one.
func merged(opts []Option) (all Option) {
	for _, o := range opts {
		if o.algorithm != "" {
			all.algorithm = o.algorithm
		}
		all.reproducible = all.reproducible || o.reproducible
	}
	return all
}

// with stores the options of the call.
func (x *call) with(opts []Option) *call {
	x.option = merged(opts)
	return x
}

// settingsOf are the settings of a call.
func settingsOf(verb sched.Verb, o Option) *settings {
	s := ofProcess()
	if o == (Option{}) {
		return s
	}
	return s.with(verb, o)
}

// A variant names the settings of calls of a verb with options.
type variant struct {
	verb sched.Verb
	Option
}

// variants has the settings of former calls with options: a program repeats few of them.
type variants struct {
	known atomic.Pointer[map[variant]*settings]
}

// variantsMax bounds the settings that are kept, since a program may pass any segment.
const variantsMax = 1000

// with returns the settings of calls of verb with o. Valid settings are kept for the next call.
func (s *settings) with(verb sched.Verb, o Option) *settings {
	v := variant{verb, o}
	known := s.variants.known.Load()
	if known != nil {
		if made := (*known)[v]; made != nil {
			return made
		}
	}
	made := &settings{tables: s.tables, reproducible: s.reproducible || o.reproducible, err: s.err}
	if o.algorithm != "" && made.err == nil {
		var first *table
		first, made.err = readAlgorithm(verb, o.algorithm)
		made.tables = append([]*table{first}, s.tables...)
	}
	if made.err == nil {
		s.variants.keep(known, v, made)
	}
	return made
}

// keep adds settings to those that known had. If another goroutine has added some meanwhile, the
// settings are made again by the next call.
func (k *variants) keep(known *map[variant]*settings, v variant, made *settings) {
	more := map[variant]*settings{}
	if known != nil {
		if len(*known) >= variantsMax {
			return
		}
		maps.Copy(more, *known)
	}
	more[v] = made
	k.known.CompareAndSwap(known, &more)
}

// unbound is the context of all nonblocking calls, and of no other call. It has no end: each wait
// for a call has a context of its own.
var unbound context.Context = &background{context.Background()}

type background struct{ context.Context }
