// Command client is the client of gridrpc/README.md: it calls the service of examples/square.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/goulfm/goulfm/gridrpc"
)

func main() {
	ctx := context.Background()
	c, err := gridrpc.Dial(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	in := 3.0
	out, err := gridrpc.Service[float64, float64](c, "square").Call(ctx, &in)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(*out)
}
