package trial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Lines of the launcher about a death, and about a job that takes too long.
const (
	killed = `{"event":"death","at":0.1,"rank":2,"cause":"killed (SIGKILL)","planned":"step=3"}` + "\n"
	failed = `{"event":"death","at":0.1,"rank":1,"cause":"exit code 1"}` + "\n"
	dump   = `{"event":"dump","text":"who waits\n  rank 1"}` + "\n"
)

func TestJudge(t *testing.T) {
	exit := func(code int) error { return exec.Command("sh", "-c", fmt.Sprint("exit ", code)).Run() }
	for _, c := range []struct {
		name string
		r    Result
		bad  string
	}{
		{"right", Result{Stderr: killed}, ""},
		{"hung", Result{Hung: true, Err: exit(124)}, "hung"},
		{"a promise", Result{Err: exit(CodeWrong)}, "a broken promise"},
		{"an error", Result{Err: exit(1)}, "exit status 1"},
		{"a rank ended by itself", Result{Stderr: killed + failed}, "rank 1 is lost: exit code 1"},
		{"left", Result{Left: []string{"file x"}}, "left behind: file x"},
	} {
		if bad := c.r.Judge(); (bad == "") != (c.bad == "") || !strings.Contains(bad, c.bad) {
			t.Errorf("%s: judged %q, want %q", c.name, bad, c.bad)
		}
	}
}

func TestDeathsAndTranscript(t *testing.T) {
	r := Result{Command: "goulfm run", Stdout: "hello\n", Stderr: "text\n" + killed + dump + failed}
	if got, want := r.Deaths(), []Event{{Event: "death", At: 0.1, Rank: 2, Cause: Killed, Planned: "step=3"}, {Event: "death", At: 0.1, Rank: 1, Cause: "exit code 1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("deaths %v, want %v", got, want)
	}
	if got, want := r.Transcript(), "$ goulfm run\nhello\ntext\n"+killed+"who waits\n  rank 1"+failed; got != want {
		t.Errorf("transcript %q, want %q", got, want)
	}
}

// place opens a place with a script as launcher.
func place(t *testing.T, script string) *Place {
	t.Helper()
	name := filepath.Join(t.TempDir(), "launcher")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Open("trial", name, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// The script leaves a file and a process that is neither the launcher nor a rank. The second time
// it leaves nothing, and none is found, because leftovers are removed.
func TestRunSeesLeftovers(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	p := place(t, "echo \"$@\"\ntest $# = 9 || exit 0\ntouch $TMPDIR/x\nsleep 60 >/dev/null 2>&1 &\n")
	p.Self = "/bin/true"
	r := p.Run(3, nil, []string{"-rank"})
	if want := "run --report json -n 3 --timeout 1m0s /bin/true -rank\n"; r.Stdout != want {
		t.Errorf("called with %q, want %q", r.Stdout, want)
	}
	if bad := r.Judge(); len(r.Left) != 2 || !strings.HasPrefix(bad, "left behind: file x, process ") {
		t.Errorf("judged %q", bad)
	}
	r = p.Run(3, []string{"-q"}, []string{"-rank"})
	if bad := r.Judge(); bad != "" || len(r.Left) > 0 {
		t.Errorf("the second time: %q, %v", bad, r.Left)
	}
	if r.CPU <= 0 || r.Took <= 0 {
		t.Errorf("it took %v, and %v of CPU time", r.Took, r.CPU)
	}
}

func TestRunSeesHangs(t *testing.T) {
	p := place(t, "exit 0\n")
	p.Timeout = time.Nanosecond
	r := p.Run(3, nil, nil)
	if bad := r.Judge(); bad != "hung" {
		t.Errorf("judged %q", bad)
	}
}

func TestBuild(t *testing.T) {
	p := place(t, "")
	file, err := p.Build("examples/hello")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(file).Output()
	if filepath.Dir(file) != p.dir || string(out) != "hello from rank 0 of 1, sum of ranks 0\n" {
		t.Errorf("%s printed %q, %v", file, out, err)
	}
	if _, err := p.Build("examples/none"); err == nil || !strings.Contains(err.Error(), "go build examples/none: ") {
		t.Errorf("a program that there is not: %v", err)
	}
}

// Outside of the module no launcher can be built.
func TestOpenFails(t *testing.T) {
	t.Chdir(t.TempDir())
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	p, err := Open("trial", "", time.Minute)
	if p != nil || err == nil || !strings.Contains(err.Error(), "go build cmd/goulfm: ") {
		t.Errorf("opened %v, %v", p, err)
	}
	if left := names(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCloseRemovesThePlace(t *testing.T) {
	p, err := Open("trial", "/bin/true", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Self); err != nil {
		t.Error(err)
	}
	p.Close()
	if _, err := os.Stat(filepath.Dir(p.Self)); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}
