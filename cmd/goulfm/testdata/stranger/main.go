// Command stranger is a program that is no rank, and is watched until it ends.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/fd/watch"
)

func main() {
	w, err := watch.Open(context.Background())
	if err == nil {
		err = w.Register("indexer")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("registered")
	select {}
}
