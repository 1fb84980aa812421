package main

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var killAll = flag.Bool("kill.all", false, "kill before every store of every protocol, not before some: four minutes")

// protocols are the parts of testdata/prog that have one protocol each.
var protocols = [...]string{
	"first", "inline", "synchronous", "eager", "long", "direct-80KiB", "direct-1MiB", "chunks",
	"barrier", "bcast-8B", "bcast-64KiB", "bcast-1MiB", "reduce-8B", "reduce-64KiB",
	"allreduce-8B", "allreduce-8KiB", "allreduce-256K",
	"blocks-8B", "blocks-512B", "blocks-8KiB", "blocks-256KiB", "blocks-refused", "scans-8B", "scans-8KiB", "scans-256KiB",
	"coll-first",
	"agree", "shrink", "revoke", "dup+free", "dup+free, again",
	"window", "window-lock", "window-notes", "window-epochs",
}

// TestKillInEveryProtocol runs one protocol at a time among 2, 3 and 4 processes, and kills each of
// them (one of more than two without -kill.all) with SIGKILL before its k-th store to shared memory
// or wake-up, for every k (-kill.all, with -timeout 1h) or for some. The survivors must end in
// time, and the data that a successful operation has received must be right. Agree, shrink and dup
// must have one outcome at all survivors. After revoke and shrink the survivors' communicator must
// work. The program checks all this, and prints the number of survivors.
func TestKillInEveryProtocol(t *testing.T) {
	longtest.Skip(t, "some hundred jobs")
	if testing.Short() {
		t.Skip("some hundred jobs")
	}
	t.Parallel()
	k := killer{prog: build(t, "./testdata/prog", "-tags", "failpoints"), all: *killAll}
	var rows [len(protocols)][3]int
	var ran atomic.Int64
	t.Cleanup(func() { judge(t, rows[:], int(ran.Load())) })
	for i, name := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := &rows[i]
			for n := 2; n <= 4; n++ {
				for _, victim := range k.victims(n, i) {
					row[n-2] += k.kills(t, name, n, victim, i+n+victim)
				}
			}
			if *killAll && (row[0] < 2 || row[1] < 3 || row[2] < 4) {
				t.Errorf("killed at %v points only", *row)
			}
			ran.Add(1)
		})
	}
}

// judge prints the number of points at which processes were killed, and fails if all protocols ran
// with fewer than 250 points.
func judge(t *testing.T, rows [][3]int, ran int) {
	var table strings.Builder
	total := 0
	for i, row := range rows {
		fmt.Fprintf(&table, "%-16s %8v %8v %8v\n", protocols[i], row[0], row[1], row[2])
		total += row[0] + row[1] + row[2]
	}
	t.Logf("%d points\n%-16s %8v %8v %8v\n%s", total, "points", "n=2", "n=3", "n=4", &table)
	if ran == len(rows) && total < 250 {
		t.Errorf("%d points: this tests next to nothing", total)
	}
}

type killer struct {
	prog string
	all  bool // before every store
}

// victims returns the ranks of n that die: both of two ranks. Of more ranks it returns one that
// depends on salt, or all if k.all is set.
func (k *killer) victims(n, salt int) []int {
	if !k.all && n > 2 {
		return []int{(salt + n) % n}
	}
	all := make([]int, n)
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// next returns the next store before which the victim dies. Without k.all some stores are skipped:
// the tested ones are dense at the beginning, where short protocols have all their stores, and they
// depend on salt.
func (k *killer) next(at, salt int) int {
	switch {
	case k.all:
		return at + 1
	case at == 0:
		return 1 + salt%3
	}
	return 5*at/2 + 1 + salt%2
}

// kills runs the jobs of one protocol, size and victim, and returns the number of kills. The number
// of stores varies a little from run to run, because waking a sleeping rank takes one more store.
// So with k.all the search ends only after three k in a row came too late, otherwise after the
// first.
func (k *killer) kills(t *testing.T, name string, n, victim, salt int) (killed int) {
	t.Helper()
	lateMax := 1
	if k.all {
		lateMax = 3
	}
	late, bad := 0, 0
	for at := k.next(0, salt); late < lateMax && bad < 3; at = k.next(at, salt) {
		died, err := k.job(t, name, n, victim, at)
		switch {
		case err != nil:
			t.Error(err)
			bad++
		case died:
			killed++
			late = 0
		default:
			late++
		}
	}
	return killed
}

var leftLine = regexp.MustCompile(`(?m)^left (\d+)$`)

// job runs one job, and reports whether the victim died.
func (k *killer) job(t *testing.T, name string, n, victim, at int) (died bool, err error) {
	t.Helper()
	args := []string{"run", "-q", "-n", strconv.Itoa(n), "--timeout", "60s",
		"-x", fmt.Sprintf("GOULFM_KILL_PART=%d:%d", victim, at), k.prog, "protocol", name}
	got := goulfmCommand(t, "", args...)
	left := leftLine.FindAllStringSubmatch(got.out, -1)
	if got.code == 0 && len(left) == 1 {
		switch left[0][1] {
		case strconv.Itoa(n):
			return false, nil
		case strconv.Itoa(n - 1):
			return true, nil
		}
	}
	return false, fmt.Errorf("goulfm %s: code %d\n%s%s", strings.Join(args, " "), got.code, got.out, got.err)
}
