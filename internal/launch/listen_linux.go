package launch

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/boot"
)

// listen reads what a rank says over its lifeline, to the end of it. A program may write
// there what it likes: what is no message ends the lifeline, and with it the rank, never
// the launcher.
func (j *job) listen(r *rank) {
	in := boot.NewDecoder(r.words, j.node.Procs())
	for {
		m, err := in.Next()
		if err == nil {
			err = j.hear(r, m)
		}
		switch {
		case errors.Is(err, boot.ErrMessage):
			j.rep.note("lifeline", "rank %d: %v over its lifeline: closed, which ends the rank", r.number, err)
			return
		case err != nil:
			return
		}
	}
}

// errTwice is told where a process says something that can be said once.
var errTwice = fmt.Errorf("%w: said twice", boot.ErrMessage)

// hear does what a message asks for.
func (j *job) hear(r *rank, m boot.Message) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch m.What {
	case boot.SaysJoined:
		if r.joined {
			return errTwice
		}
		j.joins(r)
	case boot.SaysKill:
		r.killedNs, r.planned = m.AtNs, fmt.Sprintf("%s=%d", m.Name, m.N)
	case boot.SaysAborted:
		j.abort(r, m)
	case boot.SaysFenced:
		r.fenced = true
	case boot.SaysSilent:
		for _, number := range m.Procs {
			j.endSilent(number, r.number)
		}
	case boot.SaysSpawn:
		go j.spawnMore(r, m)
	case boot.SaysKeep:
		j.keep(m)
	case boot.SaysDrop:
		j.unwanted(m)
	case boot.SaysDump:
		r.dump = &m
	case boot.SaysEvent:
		j.rep.event(r.number, m, j.survivors())
	}
	return nil
}

// joins notes that a rank is in Init. The caller holds mu.
func (j *job) joins(r *rank) {
	r.joined = true
	if r.number < j.spec.N {
		if j.joined++; j.joined == j.spec.N {
			close(j.allJoined)
		}
	}
	j.inInit(r.number)
}

// survivors counts the ranks that have not died; those that finished tell what
// they know up to their end. The caller holds mu.
func (j *job) survivors() int {
	n := 0
	for _, r := range j.ranks {
		if !r.declared || r.left {
			n++
		}
	}
	return n
}
