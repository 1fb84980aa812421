package remotedaemon

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// streams returns the sinks for the output of the process with a number.
func (o *nodeDaemon) streams(proc int) (out, errs daemon.Sink, err error) {
	if o.plan.OutputDir == "" {
		return &output{o: o, proc: proc}, &output{o: o, proc: proc, errs: true}, nil
	}
	a, err := o.createFile(proc, false)
	if err != nil {
		return nil, nil, err
	}
	b, err := o.createFile(proc, true)
	if err != nil {
		a.file.Close()
		return nil, nil, err
	}
	return a, b, nil
}

func (o *nodeDaemon) createFile(proc int, errs bool) (*file, error) {
	if err := os.MkdirAll(o.plan.OutputDir, 0o777); err != nil {
		return nil, err
	}
	slot, how := job.SlotOf(proc), os.O_TRUNC
	if slot != proc { // it continues with the file of the process before
		how = os.O_APPEND
	}
	f, err := os.OpenFile(daemonproto.OutputFile(o.plan.OutputDir, slot, errs), os.O_WRONLY|os.O_CREATE|how, 0o666)
	return &file{o: o, proc: proc, errs: errs, file: f}, err
}

// A file takes one stream of a process on its node. The launcher is notified of its end only.
type file struct {
	o    *nodeDaemon
	proc int
	errs bool
	file *os.File
	told bool
}

// Write implements daemon.Sink.
func (f *file) Write(piece []byte) {
	_, err := f.file.Write(piece)
	f.check(err)
}

// Close implements daemon.Sink.
func (f *file) Close() {
	f.check(f.file.Close())
	f.o.mouth.Say(daemonproto.Output{Proc: f.proc, Errs: f.errs, End: true})
}

// check reports the first error of a file: lost output is a failure of the job. Without the
// launcher the exit code of this daemon reports it.
func (f *file) check(err error) {
	if err == nil || f.told {
		return
	}
	f.told = true
	text := fmt.Sprintf("output of rank %d is lost: %v", job.SlotOf(f.proc), err)
	f.o.solo.unwritten.CompareAndSwap(nil, text)
	if !f.o.solo.tell(f.o.boot.Node, text) {
		f.o.mouth.Say(daemonproto.Unwritten{Why: text})
	}
}

// exitUnwritten is the exit code of a daemon that has lost output in a job without its launcher:
// the same as that of goulfm run.
const exitUnwritten = 6

// settledCode is the exit code of a daemon without live processes.
func (o *nodeDaemon) settledCode() (int, error) {
	if text, lost := o.solo.unwritten.Load().(string); lost && o.solo.is.Load() {
		return exitUnwritten, fmt.Errorf("node %d: %s", o.boot.Node, text)
	}
	return 0, nil
}
