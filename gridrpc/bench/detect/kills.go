package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
)

// promised is the requested quality for the part "kills": the default except for the time.
var promised = adaptive.QoS{Detection: adaptive.Second}

// never is the number of detection times after which the wait for a declaration ends.
const never = 20

// A round is one emitter that was killed or stopped.
type round struct {
	stopped  bool
	took     time.Duration // until it was declared; 0: never
	observer time.Duration // delay of the observer meanwhile
	network  time.Duration // delay of the network
	mistaken int           // wrong declarations before
	early    bool          // the last of these was too close to the signal to measure a time
}

// kills shows that the detection time is held.
func kills(p plan) ([]row, error) {
	b, err := newBed(promised, p.seed)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var (
		mu    sync.Mutex
		all   []round
		first error
		begun int
		wait  sync.WaitGroup
	)
	begin := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		begun++
		return begun, begun <= p.rounds && first == nil
	}
	for range p.emitters {
		wait.Go(func() {
			for n, ok := begin(); ok; n, ok = begin() {
				r, err := b.kill(p, n%2 == 0)
				mu.Lock()
				all = append(all, r)
				first = errors.Join(first, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if first != nil {
		return nil, first
	}
	return killRows(all, time.Duration(promised.Detection)), nil
}

// kill starts an emitter, kills or stops it at a random moment, and waits until it is declared.
func (b *bed) kill(p plan, stop bool) (r round, err error) {
	r.stopped = stop
	t, err := b.newTarget(p.weather)
	if err != nil {
		return r, err
	}
	defer t.end()
	if r.mistaken, err = t.settle(p.known); err != nil {
		return r, err
	}
	moment := time.After(time.Duration(b.seed() % uint64(2*time.Second)))
	for live := true; live; {
		select {
		case n := <-t.news:
			again, err := t.again(n)
			if err != nil {
				return r, err
			}
			r.mistaken += again
		case <-moment:
			live = false
		}
	}
	signal := syscall.SIGKILL
	if stop {
		signal = syscall.SIGSTOP
	}
	at := time.Now()
	if err := t.cmd.Process.Signal(signal); err != nil {
		return r, err
	}
	return r, t.awaitDeath(at, &r)
}

// awaitDeath waits for the declaration. A declaration from before the signal that is read only now
// was wrong.
func (t *target) awaitDeath(at time.Time, r *round) (err error) {
	giveUp := time.After(never * time.Duration(t.bed.qos.Detection))
	for {
		select {
		case n := <-t.news:
			if n.Kind != beat.Dead {
				continue
			}
			if n.at.Before(at) {
				r.mistaken, r.early = r.mistaken+1, true
				return nil
			}
			r.took = n.at.Sub(at)
			r.observer, r.network, err = t.bed.machineLate(at, n.at)
			return err
		case <-giveUp:
			return nil
		}
	}
}

// killRows returns the results of the rounds beside the detection time.
func killRows(all []round, detection time.Duration) (rows []row) {
	mistaken, add := 0, func(of, what, found, asked string) { rows = append(rows, row{"kills", of, what, found, asked}) }
	for _, kind := range []string{"killed", "stopped"} {
		var took []time.Duration
		late, lost := []round{}, 0
		for _, r := range all {
			if r.stopped != (kind == "stopped") {
				continue
			}
			mistaken += r.mistaken
			switch {
			case r.early:
				continue
			case r.took == 0:
				lost++
				continue
			}
			took = append(took, r.took)
			if r.took > detection {
				late = append(late, r)
			}
		}
		add(kind, "emitters", fmt.Sprint(len(took)+lost), "")
		add(kind, "never declared", fmt.Sprint(lost), "0")
		if len(took) > 0 {
			add(kind, "until it is declared, median", ms(median(took)), "")
			add(kind, "the same, worst", ms(slices.Max(took)), ms(detection))
		}
		add(kind, "later than that", fmt.Sprint(len(late)), "0")
		beyond := 0
		for _, r := range late {
			if r.took-detection > r.observer {
				beyond++
			}
		}
		add(kind, "of these by more than the observer itself was late", fmt.Sprint(beyond), "0")
		for _, r := range late {
			add(kind, "one of them, after "+ms(r.took), fmt.Sprintf("observer itself late by %s, network by %s", ms(r.observer), ms(r.network)), "")
		}
	}
	add("all", "declared while they lived", fmt.Sprint(mistaken), "")
	return rows
}
