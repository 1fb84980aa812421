package match

import "testing"

func TestBufferSizes(t *testing.T) {
	m := New()
	for _, c := range []struct{ n, capacity int }{
		{0, 64}, {1, 64}, {63, 64}, {64, 64}, {65, 128}, {128, 128}, {129, 256},
		{4096, 4096}, {4097, 8192}, {65535, 65536}, {65536, 65536},
	} {
		for range 2 { // fresh, then from the pool
			b := m.Buffer(c.n)
			if b == nil || len(b) != c.n || cap(b) != c.capacity {
				t.Errorf("Buffer(%d) has length %d, capacity %d", c.n, len(b), cap(b))
			}
			recycle(m, b)
		}
	}
	if b := m.Buffer(65537); len(b) != 65537 {
		t.Errorf("Buffer(65537) has length %d", len(b))
	}
}

func recycle(m *Matcher, data []byte) {
	msg := m.Message()
	msg.Data = data
	m.Recycle(msg)
}

// TestPoolReuses shows that the pool returns the same memory again, once.
func TestPoolReuses(t *testing.T) {
	m := New()
	b := m.Buffer(100)
	recycle(m, b)
	again, other := m.Buffer(128), m.Buffer(128)
	if &again[0] != &b[0] || &other[0] == &b[0] {
		t.Errorf("recycled buffer reused: %v, twice: %v", &again[0] == &b[0], &other[0] == &b[0])
	}
	msg := m.Message()
	msg.Ctx, msg.Src, msg.Tag, msg.Size, msg.Elem, msg.Handle, msg.Announced, msg.Sync = 1, 2, 3, 4, 5, 6, true, true
	m.Recycle(msg)
	if next := m.Message(); next != msg || next.where != outside || next.Ctx|uint32(next.Src)|uint32(next.Tag)|uint32(next.Size) != 0 ||
		next.Elem != 0 || next.Handle != 0 || next.Announced || next.Sync || next.Data != nil || m.Message() == msg {
		t.Errorf("recycled message came back as %+v", next)
	}
}

// TestPoolForeign shows that a buffer of no class is left to the collector.
func TestPoolForeign(t *testing.T) {
	m := New()
	for _, b := range [][]byte{nil, make([]byte, 10), make([]byte, 100), make([]byte, 1<<17), m.Buffer(128)[8:]} {
		recycle(m, b)
	}
	if m.pool.bytes != 0 {
		t.Errorf("pool took %d bytes", m.pool.bytes)
	}
}

// TestPoolBounded shows that a burst leaves no more than the bounds behind.
func TestPoolBounded(t *testing.T) {
	m := New()
	m.Open(0, 1, false)
	const burst = pooledMessagesMax + 1000 // of 2 KiB each: more than pooledBytesMax, too
	for range burst {
		msg := m.Message()
		msg.Data = m.Buffer(2048)
		m.Keep(msg)
	}
	if n, bytes := m.Buffered(); n != burst || bytes != burst*2048 {
		t.Errorf("%d messages of %d bytes buffered", n, bytes)
	}
	m.Free(0, nil, nil)
	if m.pool.bytes != pooledBytesMax || m.pool.messages != pooledMessagesMax {
		t.Errorf("pool holds %d bytes and %d messages after the burst", m.pool.bytes, m.pool.messages)
	}
	if err := m.check(); err != nil {
		t.Error(err)
	}
}
