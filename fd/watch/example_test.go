package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/joblaunch/watchserver"
)

// A program that is no rank learns of a death. Of the job there are only the lines of the launcher
// here: two ranks are there, one of them dies, and the job is over.
func Example() {
	post, err := watchserver.New("", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer post.Close()
	os.Setenv(watch.Variable, post.Path()) // as the launcher sets the variable for all programs that it starts
	defer os.Unsetenv(watch.Variable)
	for rank := range 2 {
		post.Tell(watch.Event{What: watch.Joined, Proc: rank})
	}

	w, err := watch.Open(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	post.Tell(watch.Event{What: watch.Died, Proc: 1, Evidence: "killed (SIGKILL)"})
	post.Tell(watch.Event{What: watch.Over, Proc: watch.None, Node: watch.None, Evidence: "1 of 2 ranks finished"})

	for e, err := range w.Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Seq, e)
	}
	// Output:
	// 2 rank 0 (node 0) present
	// 2 rank 1 (node 0) present
	// 2 complete
	// 3 rank 1 (node 0) died: killed (SIGKILL)
	// 4 the job is over: 1 of 2 ranks finished
}

// A service outside the job is watched, too: watchers of the job learn of its end. The service
// finds the job by the path of its socket, for example from its command line.
func ExampleWatcher_Register() {
	post, err := watchserver.New("", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer post.Close()

	w, err := watch.OpenAt(context.Background(), post.Path())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	if err := w.Register("indexer"); err != nil {
		fmt.Println(err)
		return
	}
	again := w.Register("indexer") // by a second instance of the service
	fmt.Println("refused:", errors.Is(again, watch.ErrRefused))
	post.Tell(watch.Event{What: watch.Over, Proc: watch.None, Node: watch.None})

	for e, err := range w.Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(strings.TrimSpace(e.Name + " " + e.What))
	}
	// Output:
	// refused: true
	// complete
	// indexer joined
	// over
}
