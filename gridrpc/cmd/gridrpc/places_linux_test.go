package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/gridrpc"
)

var placesRounds = flag.Int("places", 0, "stop and cut off each process of a tree so many times, and require that all are back within 2 s")

// placesBack is the longest time until all processes are back, on a machine without load.
const placesBack = 2 * time.Second

// members maps each process of a tree 2x3 to its parent.
var members = map[string]string{"a1": "ma", "a2": "ma", "s1": "a1", "s2": "a1", "s3": "a1", "s4": "a2", "s5": "a2", "s6": "a2"}

// orchard is a tree 2x3 whose processes are stopped or cut off.
type orchard struct {
	*trial
	client *gridrpc.Client
}

func plantOrchard(t *testing.T, detect string) *orchard {
	o := &orchard{trial: startTrial(t, "--tree", "2x3", "--detect", detect, "--no-restart")}
	for name, parent := range members {
		o.await(name + ": has the parent " + parent)
	}
	o.client = o.dial()
	o.whole()
	return o
}

// whole waits until the master knows all members, at any place, and the addresses of all servers.
func (o *orchard) whole() {
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		missing := o.missing()
		if len(missing) == 0 {
			return
		}
		require.True(o.t, time.Now().Before(end), "%v are not in the tree; the event log:\n%s", missing, o.told())
	}
}

// missing returns the members that the master does not know.
func (o *orchard) missing() (names []string) {
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Second)
	defer cancel()
	tree, err := o.client.Describe(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	offers, err := o.client.Offers(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	known := regexp.MustCompile(`\w+`).FindAllString(shape(tree), -1)
	for name := range members {
		offered := slices.ContainsFunc(offers, func(f gridrpc.Offer) bool { return f.Server == name && f.Service == "square" })
		if !slices.Contains(known, name) || name[0] == 's' && !offered {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// gained returns the number of times that a member got a parent.
func (o *orchard) gained(name string) int { return strings.Count(o.told(), name+": has the parent ") }

// below returns the members with a link to a process: its children, and the process itself if it
// has a parent.
func (o *orchard) below(place string) []string {
	var names []string
	for name := range members {
		latest := ""
		for _, line := range strings.Split(o.told(), "\n") {
			if text, ok := strings.CutPrefix(line, name+": has the parent "); ok {
				latest, _, _ = strings.Cut(text, ",")
			}
		}
		if name == place || latest == place {
			names = append(names, name)
		}
	}
	return names
}

// stop stops a process until others have detected it, resumes it, and returns the time until all
// are back.
func (o *orchard) stop(place string) time.Duration {
	lost := func() int { return strings.Count(o.told(), ": has lost its parent "+place+"\n") }
	before := lost()
	o.signal(place, syscall.SIGSTOP)
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		noticed := lost() > before
		if place != "ma" && !noticed {
			noticed = slices.Contains(o.missing(), place)
		}
		if noticed {
			break
		}
		require.True(o.t, time.Now().Before(end), "%s is stopped, and nobody notices", place)
	}
	o.signal(place, syscall.SIGCONT)
	begun := time.Now()
	o.whole()
	return time.Since(begun)
}

// cut breaks all connections of a process, and returns the time until all are back.
func (o *orchard) cut(place string) time.Duration {
	hit := o.below(place)
	before := map[string]int{}
	for _, name := range hit {
		before[name] = o.gained(name)
	}
	begun := time.Now()
	shutConnections(o.t, o.eventLog.PID(place))
	for _, name := range hit {
		o.until(name+" to have a parent again", func() bool {
			return strings.Count(o.eventLog.String(), name+": has the parent ") > before[name]
		})
	}
	o.whole()
	return time.Since(begun)
}

// shutConnections shuts all TCP connections of another process, in both directions: the other ends
// learn that they have ended.
func shutConnections(t *testing.T, pid int) {
	process, err := unix.PidfdOpen(pid, 0)
	require.NoError(t, err)
	defer unix.Close(process)
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	shut := 0
	for _, f := range files {
		number, _ := strconv.Atoi(f.Name())
		kind, _ := os.Readlink(filepath.Join(fmt.Sprintf("/proc/%d/fd", pid), f.Name()))
		if !strings.HasPrefix(kind, "socket:") {
			continue
		}
		fd, err := unix.PidfdGetfd(process, number, 0)
		if err == unix.EPERM {
			t.Skip("this system lets nobody reach the connections of other processes")
		}
		if err != nil {
			continue // it was closed meanwhile
		}
		stream, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		peer, err := unix.Getpeername(fd)
		_, local := peer.(*unix.SockaddrUnix)
		if stream == unix.SOCK_STREAM && err == nil && !local {
			_ = unix.Shutdown(fd, unix.SHUT_RDWR)
			shut++
		}
		unix.Close(fd)
	}
	require.NotZero(t, shut, "process %d has no connection", pid)
}

// TestPlacesOfATree: any process of a tree is stopped until it is declared dead, and resumes; or it
// loses all its connections while all processes are alive. All are in the tree again.
func TestPlacesOfATree(t *testing.T) {
	if *placesRounds > 0 {
		t.Skip("the long form runs")
	}
	o := plantOrchard(t, "1s")
	for _, place := range []string{"s1", "a1", "ma"} {
		t.Logf("%s cut off: all are back after %v", place, o.cut(place))
	}
	for _, place := range []string{"s4", "a2", "ma", "ma"} {
		t.Logf("%s stopped: all are back after %v", place, o.stop(place))
	}
}

// TestPlacesOfATreeLong is the same for each process, many times, with a bound: see -places.
func TestPlacesOfATreeLong(t *testing.T) {
	if *placesRounds == 0 {
		t.Skip("takes many minutes: -places 20")
	}
	faults := map[string]func(o *orchard, place string) time.Duration{"stopped": (*orchard).stop, "cut off": (*orchard).cut}
	for fault, inflict := range faults {
		for _, place := range []string{"ma", "a1", "a2", "s1", "s2", "s3", "s4", "s5", "s6"} {
			t.Run(place+" "+fault, func(t *testing.T) {
				o := plantOrchard(t, "2s")
				var took []time.Duration
				for range *placesRounds {
					took = append(took, inflict(o, place).Round(time.Millisecond))
				}
				slices.Sort(took)
				t.Logf("%d rounds: median %v, longest %v", len(took), took[len(took)/2], took[len(took)-1])
				assert.LessOrEqual(t, took[len(took)-1], placesBack)
			})
		}
	}
}
