package recovery

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"

	"github.com/goulfm/goulfm/internal/base/byteview"
)

// Bounds of the members of a program.
const (
	MembersMax   = 1024 // number of members
	NameBytesMax = 64   // length of a member's name, in bytes
)

// A Member is a protected variable of a program: a Slice or a Value.
type Member struct {
	name    string
	kind    string // equal at all ranks, as are name and options
	bad     error
	save    func(dst []byte) ([]byte, error) // appends the present value to dst
	restore func(b []byte) error             // sets the value that save wrote; does not change b
	elem    int                              // bytes of an element of a Slice
	bytes   func() []byte                    // of a Slice: the present value, in place
	room    func(n int) ([]byte, error)      // of a Slice: the destination of a value of n bytes, in place
	option  options
}

type options struct {
	Same, Static, Forward, Own bool
	Total, Width               int // of Rows; otherwise zero
}

// An Option sets how a member is treated.
type Option func(*options)

// Same declares that a member is equal at all ranks. A commit at which ranks differ returns
// ErrReplica. Commits compare ten bits of a digest that changes with each version: one commit
// misses a difference in one of 1,024 cases, two commits in a row miss it in one of a million.
func Same() Option { return func(o *options) { o.Same = true } }

// Static declares that a member does not change after the first commit: the member is copied once,
// and only new processes restore it.
func Static() Option { return func(o *options) { o.Static = true } }

// Forward leaves the member unchanged at survivors in a repair. New processes get the value of the
// last version, which may be older. The body then brings the ranks in World.Lost up to date.
func Forward() Option { return func(o *options) { o.Forward = true } }

// Rows declares that a Slice holds the rows of this rank, of total rows of width elements each. The
// rank has the rows lo to hi-1 of World.Block(total), so the slice has (hi-lo)*width elements; a
// commit with another length returns ErrMember. In a world of another size the rows are
// redistributed.
func Rows(total, width int) Option { return func(o *options) { o.Total, o.Width = total, width } }

// Slice protects the elements of *p, of a fixed size and without pointers. The length of *p may
// change between commits. name identifies the member and has 1 to NameBytesMax bytes. Protect
// returns ErrMember for another name, for a name that occurs twice and for other elements.
func Slice[T any](name string, p *[]T, opts ...Option) Member {
	m := newMember(name, "slice of "+reflect.TypeFor[T]().String(), opts)
	m.elem = byteview.Size[T]()
	if why := byteview.Obstacle(reflect.TypeFor[T]()); why != "" {
		m.bad = fmt.Errorf("%w: %q: elements of %v cannot be copied: %s", ErrMember, name, reflect.TypeFor[T](), why)
		return m
	}
	if p == nil {
		m.bad = fmt.Errorf("%w: %q: a nil pointer", ErrMember, name)
		return m
	}
	m.bytes = func() []byte { return byteview.Bytes(*p) }
	m.room = func(n int) ([]byte, error) {
		size := byteview.Size[T]()
		if size == 0 || n%size != 0 {
			return nil, fmt.Errorf("%w: %q: %d bytes for elements of %d", ErrMember, name, n, size)
		}
		if n /= size; n != len(*p) {
			*p = make([]T, n)
		}
		return byteview.Bytes(*p), nil
	}
	m.save = func(dst []byte) ([]byte, error) { return append(dst, byteview.Bytes(*p)...), nil }
	m.restore = func(b []byte) error {
		to, err := m.room(len(b))
		copy(to, b)
		return err
	}
	return m
}

// Value protects *p, encoded by its own encoding.BinaryMarshaler (as rand.PCG has) or by gob. name
// is as for Slice.
func Value[T any](name string, p *T, opts ...Option) Member {
	m := newMember(name, "value of "+reflect.TypeFor[T]().String(), opts)
	if p == nil {
		m.bad = fmt.Errorf("%w: %q: a nil pointer", ErrMember, name)
		return m
	}
	if own, ok := any(p).(interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}); ok {
		m.save = func(dst []byte) ([]byte, error) {
			b, err := own.MarshalBinary()
			return append(dst, b...), err
		}
		m.restore = own.UnmarshalBinary
		return m
	}
	m.save = func(dst []byte) ([]byte, error) {
		w := bytes.NewBuffer(dst)
		err := gob.NewEncoder(w).Encode(p)
		return w.Bytes(), err
	}
	m.restore = func(b []byte) error {
		var fresh T // gob omits zero fields
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&fresh); err != nil {
			return err
		}
		*p = fresh
		return nil
	}
	return m
}

func newMember(name, kind string, opts []Option) Member {
	m := Member{name: name, kind: kind}
	for _, o := range opts {
		o(&m.option)
	}
	if name == "" || len(name) > NameBytesMax {
		m.bad = fmt.Errorf("%w: %q: names have 1 to %d bytes", ErrMember, name, NameBytesMax)
	}
	return m
}

// checkMembers returns an error if the members of a program are invalid.
func checkMembers(ms []Member) error {
	if len(ms) > MembersMax {
		return fmt.Errorf("%w: %d: at most %d", ErrMember, len(ms), MembersMax)
	}
	seen := map[string]bool{}
	for _, m := range ms {
		switch {
		case m.bad != nil:
			return m.bad
		case m.save == nil:
			return fmt.Errorf("%w: neither a Slice nor a Value", ErrMember)
		case m.option.Own && m.option != (options{Own: true}):
			return fmt.Errorf("%w: %q: Own goes with no other option", ErrMember, m.name)
		case seen[m.name]:
			return fmt.Errorf("%w: two are called %q", ErrMember, m.name)
		}
		seen[m.name] = true
	}
	return nil
}

// checkShrinkable returns an error that names a member which prevents a smaller world. The error
// comes at once, and not when a process is missing.
func checkShrinkable(ms []Member) error {
	for _, m := range ms {
		if !m.option.Same && !m.isRows() {
			return fmt.Errorf("%w: %q: with ShortageShrink a member is Same, or a Slice of Rows", ErrMember, m.name)
		}
	}
	return nil
}

// isRows reports whether a member can be distributed to another number of ranks.
func (m Member) isRows() bool { return m.elem > 0 && m.option.Width > 0 && m.option.Total >= 0 }

// checkRows returns an error unless a member of Rows has the rows of this rank's Block.
func (w *World) checkRows(m Member, bytes int) error {
	if lo, hi := w.Block(m.option.Total); m.isRows() && bytes != (hi-lo)*m.option.Width*m.elem {
		return fmt.Errorf("%w: %q has %d bytes, and not %d rows of %d elements", ErrMember, m.name, bytes, hi-lo, m.option.Width)
	}
	return nil
}

// digestOf is a digest of the properties that must be equal at all ranks: names, kinds and options
// in order.
func digestOf(ms []Member) uint64 {
	h := fnv.New64a()
	for _, m := range ms {
		fmt.Fprintf(h, "%q %q %v\n", m.name, m.kind, m.option)
	}
	return h.Sum64()
}

// digestOfSame is a digest of the members that are equal at all ranks; false: there are none.
func digestOfSame(ms []Member, blobs [][]byte) (digest uint64, any bool) {
	h := fnv.New64a()
	for i, m := range ms {
		if m.option.Same {
			any = true
			fmt.Fprintf(h, "%d ", len(blobs[i]))
			_, _ = io.Copy(h, bytes.NewReader(blobs[i]))
		}
	}
	return h.Sum64(), any
}
