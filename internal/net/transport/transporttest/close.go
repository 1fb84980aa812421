package transporttest

import "testing"

// testCloseControl: control frames from a closed process are dropped, including frames that had
// arrived, and sending succeeds. Data frames, and frames to and from other processes, pass as
// before.
func testCloseControl(t *testing.T, factory func(t *testing.T, n int) World) {
	es := ends(factory(t, 3), 3)
	me, closed, other := es[0], es[1], es[2]
	half := piece(newStream(0).rng, 3*controlRing)
	closed.TryControl(0, []byte("before"), 0)
	other.TryControl(0, []byte("before"), 0)
	me.TryControl(1, half, 0)
	sendOne(t, closed, 0, 0)

	me.CloseControl(1)
	closed.TryControl(0, []byte("after"), 0)
	sendOne(t, closed, 0, 1)
	wantNoControl(t, me, 1)
	for range 100 {
		if n := me.TryControl(1, half, 0); n != len(half) {
			t.Fatalf("%d of %d bytes sent to a closed process: it must succeed", n, len(half))
		}
	}
	readOne(t, me, 1, 0)
	readOne(t, me, 1, 1)
	sendOne(t, me, 1, 2)
	readOne(t, closed, 0, 2)
	if frame, ok := me.NextControl(2); !ok || string(frame) != "before" {
		t.Errorf("control from another process: %q, %v", frame, ok)
	}
	wantNoControl(t, closed, 0) // half a frame, and frames sent after the close, did not arrive
}

// testCloseData: frames published before CloseData are readable until then, even if their sender
// has died. Afterwards nothing arrives and sending succeeds.
func testCloseData(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 3)
	es := ends(w, 3)
	me, closed, other := es[0], es[1], es[2]
	for i := range 10 {
		sendOne(t, closed, 0, i)
		sendOne(t, other, 0, i)
	}
	w.Depart(1, true)
	me.CloseControl(1)
	for i := range 8 {
		readOne(t, me, 1, i)
	}
	full := fill(me, 1, 0, 64)

	me.CloseData(1)
	wantNoData(t, me, 1)
	sendOne(t, closed, 0, 10) // its sender may be alive: wrongly declared dead, and not yet aware of the declaration
	wantNoData(t, me, 1)
	for range full + 200 {
		sendOne(t, me, 1, 0)
	}
	me.WantRoom(1, true)
	me.WantRoom(1, false)
	me.Sweep(1)
	me.Advance(1)
	if word, _ := me.Watch(1); word != nil {
		t.Error("a word to watch for data from a closed process")
	}
	me.CreditReturned(1)
	me.ReturnCredit(1, 1)
	for i := range 10 {
		readOne(t, me, 2, i)
	}
	me.CloseData(2)
	other.TryControl(0, []byte("open"), 0)
	if frame, ok := me.NextControl(2); !ok || string(frame) != "open" {
		t.Errorf("control from a process that is closed for data only: %q, %v", frame, ok)
	}
	me.TryControl(2, []byte("open"), 0)
	if frame, ok := other.NextControl(0); !ok || string(frame) != "open" {
		t.Errorf("control to a process that is closed for data only: %q, %v", frame, ok)
	}
	if err := me.Broken(1); err != nil {
		t.Errorf("a process that only died counts as broken: %v", err)
	}
}

// testCloseFirst closes a process before any exchange with it.
func testCloseFirst(t *testing.T, factory func(t *testing.T, n int) World) {
	es := ends(factory(t, 2), 2)
	es[0].CloseControl(1)
	es[0].CloseData(1)
	sendOne(t, es[1], 0, 0)
	es[1].TryControl(0, []byte("x"), 0)
	wantNoData(t, es[0], 1)
	wantNoControl(t, es[0], 1)
	for i := range 1000 {
		sendOne(t, es[0], 1, i)
		if es[0].TryControl(1, []byte("control"), 0) != len("control") {
			t.Fatal("control to a closed process must succeed")
		}
	}
	es[0].WantRoom(1, true)
	es[0].Sweep(1)
	wantNoData(t, es[1], 0)
	wantNoControl(t, es[1], 0)
}

// sendOne sends data frame number i, for which there is room.
func sendOne(t *testing.T, e *end, to, i int) {
	t.Helper()
	h, payload := numbered(i, 10*i)
	if !e.TrySend(to, &h, payload) {
		t.Fatalf("rank %d: no room for frame %d to %d", e.Me(), i, to)
	}
}

// readOne reads data frame number i.
func readOne(t *testing.T, e *end, from, i int) {
	t.Helper()
	f, ok := e.Peek(from)
	if !ok {
		t.Fatalf("rank %d: frame %d from %d is not there: %v", e.Me(), i, from, e.Broken(from))
	}
	h, payload := numbered(i, 10*i)
	if err := same(f, h, payload); err != nil {
		t.Fatal(err)
	}
	e.Advance(from)
}

func wantNoData(t *testing.T, e *end, from int) {
	t.Helper()
	if f, ok := e.Peek(from); ok {
		t.Fatalf("rank %d got data from %d: %+v", e.Me(), from, f.Header)
	}
}

func wantNoControl(t *testing.T, e *end, from int) {
	t.Helper()
	if frame, ok := e.NextControl(from); ok {
		t.Fatalf("rank %d got %d bytes of control from %d", e.Me(), len(frame), from)
	}
}
