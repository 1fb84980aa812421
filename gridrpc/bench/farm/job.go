package main

import (
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// job is a call of the simulated farm, at its client and at its server.
type job struct {
	*farm
	number int
	rule   *session.Session
}

func (j *job) step(ev session.Event) {
	for _, a := range j.rule.Step(ev) {
		switch a := a.(type) {
		case session.Ask:
			j.ask(a)
		case session.Submit:
			j.give(a.Attempt, j.posts[a.Server.Name])
		case session.End:
			if a.Outcome != session.Succeeded {
				panic("a job has not succeeded: " + a.Outcome.String())
			}
			j.ended()
		}
	}
	if at, ok := j.rule.Deadline(); ok {
		j.At(at, func() {
			if d, ok := j.rule.Deadline(); ok && d <= j.Now {
				j.step(session.Tick{Now: j.Now})
			}
		})
	}
}

// ask requests servers from the master.
func (j *job) ask(a session.Ask) {
	took := 2 * j.Way()
	if a.Fresh {
		took += freshTakes
	}
	j.After(took/2, func() {
		if a.Fresh {
			j.refresh(j.master)
		}
		r := ranking.Request{Service: "dgemm", Work: 1}
		best, known := j.master.table.Best(r)
		if len(best) > 0 {
			j.master.table.Book(r, best[0].Server)
		}
		ev := session.Candidates{Unknown: !known, Quiet: j.Now.Sub(j.master.table.Changed)}
		for _, e := range best {
			ev.Servers = append(ev.Servers, session.Server{Name: e.Server.Name, Incarnation: 1})
		}
		j.After(took/2, func() {
			ev.At = j.Now
			j.step(ev)
		})
	})
}

// give submits to a server. Answers reach the client by a connection of their own, without the
// tree.
func (j *job) give(attempt uint32, to *post) {
	j.After(j.Way(), func() {
		id := session.CallID{byte(j.number), byte(j.number >> 8)}
		if to.desk.Submit(id, attempt, 0, false) != session.Run {
			j.After(j.Way(), func() { j.step(session.Refused{At: j.Now, Attempt: attempt}) })
			return
		}
		j.After(j.Way(), func() { j.step(session.Accepted{At: j.Now, Attempt: attempt}) })
		to.waiting = append(to.waiting, func() { j.finish(attempt, to) })
		j.work(to)
	})
}

// work begins the next job of a server, if it runs none.
func (f *farm) work(at *post) {
	f.tell(at)
	if at.running || len(at.waiting) == 0 {
		return
	}
	next := at.waiting[0]
	at.waiting, at.running = at.waiting[1:], true
	spread := 1 + jobSpread*(2*f.Random.Float64()-1)
	f.After(mono.Duration(float64(jobTakes)*spread), next)
}

// finish ends a body.
func (j *job) finish(attempt uint32, at *post) {
	at.running, at.known = false, true
	at.desk.Leave()
	j.After(j.Way(), func() { j.step(session.Result{At: j.Now, Attempt: attempt}) })
	j.work(at)
}
