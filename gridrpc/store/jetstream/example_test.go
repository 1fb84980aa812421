package jetstream_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/goulfm/goulfm/gridrpc/store/jetstream"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream/replica"
)

// Three servers in this process stand in for those of three machines.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "jetstream")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	clients, routes := free(3), free(3)
	ctx, stop := context.WithCancel(context.Background())
	var servers sync.WaitGroup
	defer servers.Wait()
	defer stop()
	for i := range clients {
		c := replica.Config{
			Name: fmt.Sprint("st", i), Dir: filepath.Join(dir, fmt.Sprint(i)), Addr: clients[i], Route: routes[i], Routes: routes,
			Say: func(text string) { fmt.Println(text) },
		}
		servers.Go(func() {
			if err := replica.Serve(ctx, c); err != nil {
				fmt.Println(err)
			}
		})
	}
	store, err := jetstream.Open(ctx, jetstream.Name(clients), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	if err := store.Put(ctx, "notes/first", 5, strings.NewReader("hello")); err != nil {
		fmt.Println(err)
		return
	}
	items, err := store.List(ctx, "notes/")
	fmt.Println(items, err)
	// Output: [{notes/first 5}] <nil>
}

// free returns addresses at which no process listens.
func free(n int) (addrs []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}
