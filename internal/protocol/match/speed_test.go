package match

import (
	"fmt"
	"testing"
)

// cycles are the steady states of traffic; each call leaves the queues as it found them. No cycle
// may allocate, in the tests or in the benchmarks.
func cycles() []cycle {
	return []cycle{
		{"post then arrive", expected(2, 1, 7, 7)},
		{"post then arrive, any source", expected(2, Any, 7, 7)},
		{"post then arrive, any tag", expected(2, 1, Any, 7)},
		{"post then arrive, 1000 members", expected(1000, 999, 7, 7)},
		{"post then withdraw", withdrawing()},
		{"keep 8 B then post", unexpected(1, 8, false)},
		{"keep 16 KiB then post", unexpected(1, 16<<10, false)},
		{"keep announced then post", unexpected(1, 1<<20, true)},
		{"keep then post, any source", unexpected(Any, 8, false)},
		{"keep, probe, take", probing()},
		{"64 deep, same tag", deep(64, func(int) int { return 7 })},
		{"64 deep, reverse tags", deep(64, func(i int) int { return 64 - i })},
		{"keep then fail, announced", failing()},
	}
}

type cycle struct {
	name string
	run  func()
}

func expected(members, src, want, tag int) func() {
	m := New()
	m.Open(0, members, false)
	r := &Recv{Src: src, Tag: want}
	return func() {
		if m.Post(r) != nil || m.Arrive(0, members-1, tag) != r {
			panic("no match")
		}
	}
}

func withdrawing() func() {
	m := New()
	m.Open(0, 2, false)
	r := &Recv{Src: 1}
	return func() {
		if m.Post(r) != nil || !m.Withdraw(r) {
			panic("not queued")
		}
	}
}

// keep does the work of an engine for an arrival that no receive waits for.
func keep(m *Matcher, size int, announced bool) {
	msg := m.Message()
	msg.Src, msg.Tag, msg.Size, msg.Announced = 1, 7, size, announced
	if !announced {
		msg.Data = m.Buffer(size)
	}
	m.Keep(msg)
}

func unexpected(src, size int, announced bool) func() {
	m := New()
	m.Open(0, 2, false)
	r := &Recv{Src: src, Tag: 7}
	return func() {
		if m.Arrive(0, 1, 7) != nil {
			panic("a receive is left")
		}
		keep(m, size, announced)
		m.Recycle(m.Post(r))
	}
}

func probing() func() {
	m := New()
	m.Open(0, 2, false)
	return func() {
		keep(m, 8, false)
		msg := m.Probe(0, Any, Any)
		m.Take(msg)
		m.Recycle(msg)
	}
}

// deep posts n receives with tags 0 .. and lets messages arrive by tagOf.
func deep(n int, tagOf func(int) int) func() {
	m := New()
	m.Open(0, 2, false)
	rs := make([]Recv, n)
	for i := range rs {
		rs[i] = Recv{Src: 1, Tag: tagOf(n - i)}
	}
	return func() {
		for i := range rs {
			m.Post(&rs[i])
		}
		for i := range rs {
			if m.Arrive(0, 1, tagOf(i+1)) == nil {
				panic("no match")
			}
		}
	}
}

func failing() func() {
	m := New()
	m.Open(0, 2, false)
	wild, named := &Recv{Src: Any, Tag: 1}, &Recv{Src: 1, Tag: 1}
	m.Post(wild)
	n := 0
	count := func(*Recv) { n++ }
	return func() {
		m.Post(named)
		if n = 0; named.Queued() {
			m.Fail(0, 1, count, count, nil)
		}
		if n != 2 {
			panic("the death was not noticed")
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, c := range cycles() {
		c.run() // the first one fills the pools
		if n := testing.AllocsPerRun(1000, c.run); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func BenchmarkCycle(b *testing.B) {
	for _, c := range cycles() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

// BenchmarkManyContexts shows that the number of communicators costs nothing
// but cache misses.
func BenchmarkManyContexts(b *testing.B) {
	for _, n := range []uint32{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New()
			for ctx := range n {
				m.Open(ctx, 8, false)
			}
			r, ctx := &Recv{Tag: 7}, uint32(0)
			for b.Loop() {
				r.Ctx = ctx
				m.Post(r)
				m.Arrive(ctx, 0, 7)
				if ctx++; ctx == n {
					ctx = 0
				}
			}
		})
	}
}

func BenchmarkCredit(b *testing.B) {
	c := NewCredit(DefaultLimitBytes)
	total := uint64(0)
	for b.Loop() {
		if !c.Take(Charge(8)) {
			b.Fatal("no credit")
		}
		total += uint64(Charge(8))
		c.Returned(total)
	}
}
