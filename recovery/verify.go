package recovery

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// With Config.Verify a repair restores one version earlier than necessary, and the program computes
// the newest version again. expect keeps the old data of that version: this rank's part, and the
// copies that it keeps for others, so that a keeper compares the new part of a replaced rank. Of a
// version that was made several times, the newest counts.
func (r *runner) expect(restored repair.Label) {
	r.mem.expected = nil
	for _, v := range r.mem.versions {
		newer := r.mem.expected == nil || r.mem.expected.label.Less(v.label)
		if r.cfg.Verify && newer && repair.Replays(restored, v.label) && len(v.nodes) == r.w.Size() {
			r.mem.expected = v
		}
	}
}

// compare returns an error if the part that a rank has computed again differs from its first one.
func (r *runner) compare(l repair.Label, rank int, now part) error {
	if r.mem.expected == nil || r.mem.expected.label.Number != l.Number {
		return nil
	}
	before := r.mem.expected.parts[rank]
	for i, m := range r.w.members {
		if before == nil || m.option.Forward || m.option.Own {
			continue
		}
		if at := difference(before[i], now[i]); at >= 0 {
			name := m.name
			if name == stepName {
				name = "the step"
			}
			return fmt.Errorf("%w: rank %d has another %q from byte %d on, at version %d: something that it depends on is not protected", ErrReplay, rank, name, at, l.Number)
		}
	}
	return nil
}

// difference returns the index of the first byte at which a and b differ; -1: they are equal.
func difference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}
