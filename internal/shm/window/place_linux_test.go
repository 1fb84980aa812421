package window

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSource: memory is read in place. Missing memory, or memory other than the offered, is
// refused, and dst does not change.
func TestSource(t *testing.T) {
	mem := make([]byte, 3<<20)
	for i := range mem {
		mem[i] = byte(i >> 8)
	}
	r := Own(mem)
	s := SourceAt(r.Place(), r.Token())
	assert.True(t, s.HasMemory())
	got := make([]byte, 2<<20)
	assert.True(t, s.Read(1<<20, got))
	assert.Equal(t, mem[1<<20:], got)
	assert.True(t, s.Read(0, nil))

	for what, change := range map[string]func(p *Place, t *Token){
		"no process":         func(p *Place, _ *Token) { p.Pid = 0 },
		"no such process":    func(p *Place, _ *Token) { p.Pid = 1 << 30 },
		"another's token":    func(_ *Place, t *Token) { t[1]++ },
		"a token that isn't": func(p *Place, _ *Token) { p.TokenAt = 8 },
	} {
		p, token := r.Place(), r.Token()
		change(&p, &token)
		s := SourceAt(p, token)
		assert.False(t, s.HasMemory(), what)
	}
	s.place.At = 8
	before := append([]byte{}, got[:100]...)
	assert.False(t, s.Read(0, got[:100]))
	assert.Equal(t, before, got[:100])
}
