package match

import "testing"

// TestTableForgets shows the cost of the table: pages exist only where a context is not Freed,
// after any number of contexts.
func TestTableForgets(t *testing.T) {
	m := New()
	m.Open(0, 2, false) // the world, never freed
	const last = 50 * pageLen
	for ctx := uint32(1); ctx <= last; ctx++ {
		m.Open(ctx, 2, ctx%2 == 1)
		if ctx > 4 {
			m.Free(ctx-4, nil, nil)
		}
	}
	for ctx := uint32(last - 3); ctx <= last; ctx++ {
		if m.State(ctx) != Live || m.State(ctx-4) != Freed {
			t.Errorf("context %d is %v, %d is %v", ctx, m.State(ctx), ctx-4, m.State(ctx-4))
		}
	}
	own := 0
	for _, p := range m.table.pages {
		if p != m.table.sharedFreed && p != m.table.absentPage {
			own++
		}
	}
	if own != 3 || len(m.table.pages) != 51 {
		t.Errorf("%d of %d pages are kept for 5 contexts on 3 pages", own, len(m.table.pages))
	}
	if err := m.check(); err != nil {
		t.Error(err)
	}
}

// TestStateOfAnything shows that a number from the wire is harmless.
func TestStateOfAnything(t *testing.T) {
	m := New()
	m.Open(3, 2, false)
	for _, ctx := range []uint32{0, 2, 4, pageLen - 1, pageLen, 1 << 20, 1<<32 - 1} {
		if m.State(ctx) != Absent || m.Accepts(ctx) || m.Arrive(ctx, 0, 0) != nil {
			t.Errorf("context %d is %v", ctx, m.State(ctx))
		}
		m.Revoke(ctx, nil, nil)
		m.Fail(ctx, 0, nil, nil, nil)
		if m.State(ctx) != Absent || m.Posted(ctx) != 0 || m.Unexpected(ctx) != 0 {
			t.Errorf("context %d became %v", ctx, m.State(ctx))
		}
	}
	for _, src := range []int{-1, -2, 2, 1 << 40} {
		m.Post(&Recv{Ctx: 3, Src: Any, Tag: Any})
		msg := m.Message()
		msg.Ctx, msg.Src = 3, src
		if m.Arrive(3, src, 0) != nil || m.Keep(msg) {
			t.Errorf("a message of rank %d was accepted", src)
		}
	}
	if len(m.table.pages) != 1 {
		t.Errorf("%d pages for one context", len(m.table.pages))
	}
}

// TestFreeUnused shows that an index that never came to use can be given up.
func TestFreeUnused(t *testing.T) {
	m := New()
	m.Free(7, nil, nil)
	m.Reserve(8)
	m.Free(8, nil, nil)
	m.Free(8, nil, nil)
	if m.State(7) != Freed || m.State(8) != Freed || m.State(9) != Absent {
		t.Errorf("%v, %v, %v", m.State(7), m.State(8), m.State(9))
	}
	if err := m.check(); err != nil {
		t.Error(err)
	}
}

func TestStateString(t *testing.T) {
	want := []string{"absent", "pending", "live", "revoked", "freed", "unknown"}
	for s, w := range want {
		if got := State(s).String(); got != w {
			t.Errorf("State(%d) is %q, want %q", s, got, w)
		}
	}
}
