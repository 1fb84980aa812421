package cluster

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// markKind is the meaning of a mark in a diagram.
type markKind uint8

const (
	markCall markKind = iota
	markDecide
	markDeclare
	markRevoke
	markDeath
	markLeave
	markPause
	markResume
	markFault
	markBroken
)

func (k markKind) sign() string {
	return [...]string{"o", "*", "!", "R", "X", ".", "z", "w", "#", "?"}[k]
}

type mark struct {
	at   mono.Time
	proc int
	kind markKind
	text string
}

// flight is the path of one frame.
type flight struct {
	from, to   int
	sent, came mono.Time // came = 0: never arrived, or its receiver had ended
	name       string
	order      int
}

// Diagram is the space-time diagram of a run: the events of processes, and the frames between them.
// The zero value is ready to be put into Options. A nil Diagram collects nothing.
type Diagram struct {
	n       int
	title   string
	marks   []mark
	flights []flight
	onWay   map[way][]int
}

// way is the lane of a frame. Frames of one lane come in order.
type way struct {
	from, to int
	lane     lane
}

func (s *simulation) mark(proc int, kind markKind, format string, args ...any) {
	if d := s.options.Diagram; d != nil {
		d.n, d.title = s.swarm.n, s.swarm.String()
		d.marks = append(d.marks, mark{s.now, proc, kind, fmt.Sprintf(format, args...)})
	}
	if kind >= markDeath && s.options.Trace != nil {
		s.trace(proc, format, args...)
	}
}

func (d *Diagram) sent(now mono.Time, ev event) {
	if d == nil {
		return
	}
	if d.onWay == nil {
		d.onWay = map[way][]int{}
	}
	w := way{ev.other, ev.proc, ev.lane()}
	d.onWay[w] = append(d.onWay[w], len(d.flights))
	d.flights = append(d.flights, flight{from: ev.other, to: ev.proc, sent: now, name: frameName(ev), order: len(d.flights)})
}

func (d *Diagram) arrived(now mono.Time, ev event) {
	if d == nil {
		return
	}
	w := way{ev.other, ev.proc, ev.lane()}
	if q := d.onWay[w]; len(q) > 0 { // lost frames come behind all others
		d.flights[q[0]].came = now
		d.onWay[w] = q[1:]
	}
}

// frameName returns the kind of a frame. For a control frame the first byte determines the kind.
func frameName(ev event) string {
	if ev.kind == message {
		return fmt.Sprintf("message %d", ev.data.seq)
	}
	if ev.kind == piece {
		return "chunk"
	}
	if isLong(ev.frame) {
		return longNames[ev.frame[0]-rendezvous.KindGrant]
	}
	if len(ev.frame) > 0 && int(ev.frame[0]) < len(frameNames) {
		return frameNames[ev.frame[0]]
	}
	return "frame"
}

var longNames = [...]string{"grant", "withdraw", "withdrawn", "refuse", "gone"}

var frameNames = [...]string{"frame", "detector", "member", "digest", "list", "closed"}

// shown leaves out heartbeats, which are too many. Only a diagram of the detector alone would need
// them.
func (f flight) shown() bool { return f.name != "detector" }

// Text returns the diagram with one line for each event and one column for each process: o call, *
// decision, ! declaration, R revoked, X death, z stop, w resume, # links cut, . departure, < and >
// arrival of a frame, - sending of a frame that never arrives, ? a broken invariant, | no event. The
// column of a dead process is empty.
func (d *Diagram) Text() string {
	type line struct {
		at   mono.Time
		proc int
		sign string
		text string
	}
	var lines []line
	for _, m := range d.marks {
		lines = append(lines, line{m.at, m.proc, m.kind.sign(), m.text})
	}
	for _, f := range d.flights {
		if !f.shown() {
			continue
		}
		switch {
		case f.came == 0:
			lines = append(lines, line{f.sent, f.from, "-", fmt.Sprintf("%s to %d, never arrives", f.name, f.to)})
		default:
			sign := ">"
			if f.from > f.to {
				sign = "<"
			}
			lines = append(lines, line{f.came, f.to, sign, fmt.Sprintf("%s of %d, sent at %v", f.name, f.from, f.sent.Sub(world.Epoch))})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	var b strings.Builder
	fmt.Fprintf(&b, "%12s ", "")
	for p := range d.n {
		fmt.Fprintf(&b, "%3d", p)
	}
	b.WriteByte('\n')
	dead := make([]bool, d.n)
	for _, l := range lines {
		fmt.Fprintf(&b, "%12v ", l.at.Sub(world.Epoch))
		for p := range d.n {
			sign := "|"
			if dead[p] {
				sign = " "
			}
			if p == l.proc {
				sign = l.sign
			}
			b.WriteString("  " + sign)
		}
		fmt.Fprintf(&b, "  %d: %s\n", l.proc, l.text)
		if l.sign == "X" || l.sign == "." {
			dead[l.proc] = true
		}
	}
	return b.String()
}

// SVG returns the diagram as a picture. Time runs downwards.
func (d *Diagram) SVG() string {
	const left, top, column, row = 90, 40, 90, 16
	times := d.times()
	y := func(at mono.Time) int {
		i, _ := slices.BinarySearch(times, at)
		return top + row*(i+1)
	}
	height := top + row*(len(times)+2)
	x := func(proc int) int { return left + column*proc }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">`+"\n", left+column*d.n+200, height)
	b.WriteString(`<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#357"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, at := range times {
		if i%4 == 0 {
			fmt.Fprintf(&b, `<text x="4" y="%d" fill="#888">%v</text>`+"\n", y(at)+3, at.Sub(world.Epoch))
		}
	}
	for p := range d.n {
		end := height
		for _, m := range d.marks {
			if m.proc == p && (m.kind == markDeath || m.kind == markLeave) {
				end = y(m.at)
			}
		}
		fmt.Fprintf(&b, `<text x="%d" y="20" text-anchor="middle" font-size="12">%d</text><line x1="%d" y1="26" x2="%d" y2="%d" stroke="#bbb"/>`+"\n", x(p), p, x(p), x(p), end)
	}
	for _, f := range d.flights {
		if !f.shown() {
			continue
		}
		if f.came == 0 {
			fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#c33" stroke-dasharray="3,3"><title>%s, lost or not heard</title></line>`+"\n", x(f.from), y(f.sent), (x(f.from)+x(f.to))/2, y(f.sent)+row/2, f.name)
			continue
		}
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#357" stroke-width="0.7" marker-end="url(#a)"><title>%s, %d to %d, %v to %v</title></line>`+"\n",
			x(f.from), y(f.sent), x(f.to), y(f.came), f.name, f.from, f.to, f.sent.Sub(world.Epoch), f.came.Sub(world.Epoch))
	}
	for _, m := range d.marks {
		if m.proc < 0 {
			continue
		}
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="4" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", x(m.proc), y(m.at), m.kind.color(), x(m.proc)+6, y(m.at)+3, html.EscapeString(m.text))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (k markKind) color() string {
	return [...]string{"#999", "#2a2", "#d60", "#a0a", "#d00", "#666", "#06c", "#06c", "#d60", "#d00"}[k]
}

// times returns every moment that is shown, once.
func (d *Diagram) times() []mono.Time {
	var times []mono.Time
	for _, m := range d.marks {
		times = append(times, m.at)
	}
	for _, f := range d.flights {
		if f.shown() {
			times = append(times, f.sent)
			if f.came != 0 {
				times = append(times, f.came)
			}
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// HTML returns a page with the picture and the parameters of the run.
func (d *Diagram) HTML(violation string) string {
	return "<!DOCTYPE html><meta charset=\"utf-8\"><title>goulfm sim</title>\n<pre>" + html.EscapeString(violation) + "\n" + html.EscapeString(d.title) + "</pre>\n" + d.SVG()
}
