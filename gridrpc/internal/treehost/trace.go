package treehost

import (
	"fmt"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/tree"
)

// trace reports a step to the owner: "trace NS lost NAME" for any evidence, and "trace NS knows
// NAME..." with the nearest ancestor first. NS is the wall clock in nanoseconds since 1970. The
// caller holds mu.
func (b *Branch) trace(ev tree.Event, actions []tree.Action) {
	now := time.Now().UnixNano()
	switch ev := ev.(type) {
	case tree.Declared:
		b.cfg.Owner.Say(fmt.Sprintf("trace %d lost %s", now, ev.Who.Name))
	case tree.Closed:
		b.cfg.Owner.Say(fmt.Sprintf("trace %d lost %s", now, ev.Peer.Name))
	}
	for _, a := range actions {
		switch a := a.(type) {
		case tree.Observe:
		case tree.Lost:
			if _, ended := ev.(tree.Ended); ended {
				b.cfg.Owner.Say(fmt.Sprintf("trace %d lost %s", now, a.Parent.Name))
			}
			continue
		default:
			continue
		}
		text := fmt.Sprintf("trace %d knows", now)
		for _, r := range b.rule.Tree().Ancestors() {
			text += " " + r.Name
		}
		b.cfg.Owner.Say(text)
	}
}
