package nodecoll

// A pipeline is a large scan, or a large reduction of two members with a core each to one of them.
// This member receives chunks from member up, combines them with its own, and passes them on to
// member down. Each member counts its finished chunks: then down may read them, and up may use
// their place again.
//
//	scan                 member 0 -> member 1 -> member 2 -> ...
//	reduction of two     the other member -> root
type pipeline struct {
	ring     ring
	up, down int // the members before and after this member; -1: there is none
	pos      int // chunks passed on
}

func (p *pipeline) startScan(g *Group) {
	down := g.me + 1
	if down == len(g.members) {
		down = -1
	}
	p.start(g, g.me-1, down)
}

// startReduction starts a large reduction of two members.
func (p *pipeline) startReduction(g *Group) {
	if g.root == g.me {
		p.start(g, 1-g.me, -1)
	} else {
		p.start(g, -1, g.root)
	}
}

func (p *pipeline) start(g *Group, up, down int) {
	*p = pipeline{up: up, down: down}
	p.ring.cutElements(g)
	g.enterThen(passing, nil)
}

func (p *pipeline) step(g *Group) bool {
	if p.down >= 0 && !g.mayOverwriteArea() {
		return false
	}
	for ; p.pos < p.ring.chunks; p.pos++ {
		if !p.mayPass(g) || g.budget <= 0 {
			return false
		}
		p.passChunk(g)
	}
	if p.down >= 0 {
		g.area.ringOp = g.op
	}
	g.endOperation()
	return true
}

// mayPass reports whether the next chunk of up is there, and down has read the old chunk in the
// place of this member's next chunk.
func (p *pipeline) mayPass(g *Group) bool {
	if p.up >= 0 && !p.ring.hasDone(g, p.up, p.pos+1) {
		return false
	}
	return p.down < 0 || p.pos < p.ring.room || p.ring.hasDone(g, p.down, p.pos+1-p.ring.room)
}

func (p *pipeline) passChunk(g *Group) {
	p.ring.combineChunk(g, p.up, p.down, p.pos)
	g.countStep()
	for _, m := range [2]int{p.up, p.down} {
		if m >= 0 {
			g.announce(m)
		}
	}
}

func (p *pipeline) waitsFor(g *Group, m int) bool {
	switch {
	case m == p.up && g.isBehind(m, p.pos+1):
		return true
	case m == p.down && p.pos >= p.ring.room:
		return g.isBehind(m, p.pos+1-p.ring.room)
	}
	return false
}
