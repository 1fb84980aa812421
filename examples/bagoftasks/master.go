package main

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/comm"
)

// goHome ends a worker. The messages are: a worker sends a value with the number of its task as the
// tag, and so requests the next task. Its first message has the number after the last task as its
// tag. The master answers with the number of a task, or with goHome.
const goHome = -1

// A worker as the master knows it.
type worker struct {
	state state
	task  int // if busy
}

type state int

const (
	starting state = iota // no message received yet
	busy
	idle // has requested a task, and there was none
	home // was sent goHome
	dead
)

// A master deals out tasks and takes results.
type master struct {
	w       *comm.Comm
	in      integral
	workers []worker // by rank; the master itself is home
	todo    []int    // tasks in no worker's hands, the next one last
	value   []float64
	done    []bool
	missing int    // tasks without a value
	again   int    // tasks that were taken back from the dead
	report  func() // called once, when each task has its value and no worker was sent home
	told    bool   // report was called
}

func newMaster(w *comm.Comm, in integral, report func()) *master {
	m := &master{
		report: report,
		w:      w, in: in, missing: in.tasks, workers: make([]worker, w.Size()),
		value: make([]float64, in.tasks), done: make([]bool, in.tasks),
	}
	m.workers[0].state = home
	for t := in.tasks - 1; t >= 0; t-- {
		m.todo = append(m.todo, t)
	}
	return m
}

// serve runs until every task has its value and every live worker is home.
//
// The receive from any rank could wait forever if its sender is dead, so the library reports each
// death at this receive. The report does not end the request: the master returns the tasks of the
// dead to the list, acknowledges the deaths and waits again. No message is lost, and no new
// communicator is needed.
func (m *master) serve(ctx context.Context) error {
	value := make([]float64, 1)
	from := m.w.From(comm.Any).Tag(comm.Any)
	req := comm.Irecv(from, value)
	for m.expecting() {
		st, err := req.Wait(ctx)
		switch {
		case errors.Is(err, comm.ErrProcFailedPending):
			err = m.bury()
		case err == nil:
			m.take(st.Source, st.Tag, value[0])
			req = comm.Irecv(from, value)
		}
		if err != nil {
			return err
		}
		if err := m.handOut(ctx); err != nil {
			return err
		}
	}
	req.Cancel()
	m.doTheRest()
	m.tell()
	return nil
}

// tell reports the result, once.
func (m *master) tell() {
	if !m.told {
		m.told = true
		m.report()
	}
}

// expecting reports whether any worker will send a message.
func (m *master) expecting() bool {
	for _, w := range m.workers {
		if w.state != home && w.state != dead {
			return true
		}
	}
	return false
}

// take stores a value. The value may come from a worker that is dead by now, and for a task that
// was given to another worker; the values are the same then.
func (m *master) take(rank, task int, value float64) {
	if task < m.in.tasks && !m.done[task] {
		m.value[task], m.done[task] = value, true
		m.missing--
	}
	if w := &m.workers[rank]; w.state != dead {
		w.state = idle
	}
}

// bury takes back the tasks of the workers that died since the last call. It acknowledges exactly
// the deaths that it has handled: the next wait reports any later one.
func (m *master) bury() error {
	failed := m.w.GetFailed()
	for _, rank := range m.w.RanksOf(failed) {
		w := &m.workers[rank]
		if w.state == busy && !m.done[w.task] {
			m.todo = append(m.todo, w.task)
			m.again++
		}
		w.state = dead
	}
	_, err := m.w.AckFailed(failed.Size())
	return err
}

// handOut answers all idle workers: with a task, or with goHome when no work is left. While some
// task is in progress elsewhere, idle workers wait, since they get the task if its worker dies.
func (m *master) handOut(ctx context.Context) error {
	for rank := range m.workers {
		w := &m.workers[rank]
		if w.state != idle {
			continue
		}
		order := []int{goHome}
		switch task, ok := m.next(); {
		case ok:
			order[0] = task
			w.state, w.task = busy, task
		case m.missing == 0:
			m.tell() // before goHome: a worker that ends without an error knows that the result is out
			w.state = home
		default:
			continue
		}
		// If the worker has died, bury learns of the death and takes back its task.
		if err := comm.Send(ctx, m.w.To(rank), order); err != nil && !comm.Recoverable(err) {
			return err
		}
	}
	return nil
}

// next takes a task from the list. It skips tasks whose value has arrived from a dead worker.
func (m *master) next() (task int, ok bool) {
	for len(m.todo) > 0 {
		task = m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if !m.done[task] {
			return task, true
		}
	}
	return 0, false
}

// doTheRest computes the remaining tasks in a master that has no worker, or none any more.
func (m *master) doTheRest() {
	for task, ok := m.next(); ok; task, ok = m.next() {
		m.value[task], m.done[task] = m.in.slice(task), true
		m.missing--
	}
}

// sum adds the values in the order of the tasks, not of their arrival, so the result has the same
// bits in every run.
func (m *master) sum() float64 {
	sum := 0.0
	for _, v := range m.value {
		sum += v
	}
	return sum
}

// lost counts the workers that the master has seen die.
func (m *master) lost() int {
	n := 0
	for _, w := range m.workers {
		if w.state == dead {
			n++
		}
	}
	return n
}

// work does tasks until the master sends goHome. It calls begin before its n-th task.
func work(ctx context.Context, w *comm.Comm, in integral, begin func(n int)) error {
	task, value := in.tasks, 0.0
	for n := 1; ; n++ {
		if err := comm.Send(ctx, w.To(0).Tag(task), []float64{value}); err != nil {
			return err
		}
		order := make([]int, 1)
		if _, err := comm.Recv(ctx, w.From(0), order); err != nil {
			return err
		}
		if order[0] == goHome {
			return nil
		}
		begin(n)
		task = order[0]
		value = in.slice(task)
	}
}
