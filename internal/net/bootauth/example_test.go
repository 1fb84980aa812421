package bootauth_test

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/goulfm/goulfm/internal/net/bootauth"
)

// The daemon of node 3 asks the daemon of node 0 for admission. Both have read the other's card
// from the engine that started them.
func ExampleAsk() {
	coordinator, err := bootauth.NewIdentity()
	if err != nil {
		fmt.Println(err)
		return
	}
	third, err := bootauth.NewIdentity()
	if err != nil {
		fmt.Println(err)
		return
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = bootauth.Serve(ctx, ln, coordinator, bootauth.Pinned(third.Key()), func(request []byte) ([]byte, error) {
			return append([]byte("welcome, "), request...), nil
		})
	})

	answer, err := bootauth.Ask(ctx, []string{ln.Addr().String()}, third, bootauth.Pinned(coordinator.Key()), []byte("node 3"))
	fmt.Println(string(answer), err)
	cancel()
	serving.Wait()
	// Output:
	// welcome, node 3 <nil>
}

// The card of a daemon is a text that fits into the values of engines.
func ExampleParseCard() {
	text := bootauth.Card{Birth: 7, Port: 20001}.Text()
	card, err := bootauth.ParseCard(text)
	fmt.Println(len(text), card.Birth, card.Port, err)
	// Output:
	// 188 7 20001 <nil>
}
