package gridrpc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/platform"
)

// A program calls a service of the platform in the folder of this user, which "gridrpc up PROGRAM"
// has started.
func Example() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()

	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	in := 3.0
	out, err := gridrpc.Service[float64, float64](client, "square").Call(ctx, &in)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*out)
	// Output: 9
}

// A client learns of the loss of a machine within two seconds, in place of 30 seconds.
func ExampleDial() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()

	client, err := gridrpc.Dial(ctx, "", gridrpc.Detect(2*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	offers, err := client.Offers(ctx)
	fmt.Println(len(offers), "services", err)
	// Output: 3 services <nil>
}

func ExampleDetect() { ExampleDial() }

// Options of the service apply to all its calls, and options of a call to this call.
func ExampleService() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	square := gridrpc.Service[float64, float64](client, "square",
		gridrpc.Patience(10*time.Second), // waits for a server
		gridrpc.Stall(time.Minute),       // gives up a body without progress
		gridrpc.Tries(4),
	)
	for _, in := range []float64{2, 1000} {
		out, err := square.Call(ctx, &in, gridrpc.Amount(in), gridrpc.InCodec(gridrpc.JSON))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(*out)
	}
	// Output:
	// 4
	// 1e+06
}

// Several calls run at a time.
func ExampleFunc_Go() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	square := gridrpc.Service[float64, float64](client, "square")
	var calls []*gridrpc.Session[float64]
	for _, in := range []float64{1, 2, 3} {
		call, err := square.Go(ctx, &in)
		if err != nil {
			fmt.Println(err)
			return
		}
		calls = append(calls, call)
	}
	sum := 0.0
	for _, call := range calls {
		out, err := call.Wait(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		sum += *out
	}
	fmt.Println(sum)
	// Output: 14
}

func ExampleSession_Wait() { ExampleFunc_Go() }

// A user watches a long call, and cancels it. The body at the server is cancelled, too.
func ExampleSession_Cancel() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	events := make(chan gridrpc.Event, 100)
	steps := 100
	call, err := gridrpc.Service[int, int](client, "simulate").Go(ctx, &steps, gridrpc.Watch(func(e gridrpc.Event) { events <- e }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range events {
		if e.What == gridrpc.Progressed {
			fmt.Println(e)
			break
		}
	}
	_, done, _ := call.Test()
	fmt.Println("done:", done)
	call.Cancel()
	_, err = call.Wait(ctx)
	fmt.Println("cancelled:", errors.Is(err, context.Canceled))
	// Output:
	// attempt 1 at s1: progress 1 of 100
	// done: false
	// cancelled: true
}

func ExampleSession_Test() { ExampleSession_Cancel() }
func ExampleWatch()        { ExampleSession_Cancel() }

// A body that must not run twice is not tried again after the loss of its server: the client has to
// find out whether the body had an effect.
func ExampleAtMostOnce() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	in := 1
	_, err = gridrpc.Service[int, int](client, "crash").Call(ctx, &in, gridrpc.AtMostOnce())
	fmt.Println(errors.Is(err, gridrpc.ErrServerLost))
	// Output: true
}

// A call continues after the end of the client that has begun the call. Another client, perhaps on
// another day, fetches the result by the ID of the call.
func ExampleAttach() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	events := make(chan gridrpc.Event, 100)
	in := 3.0
	call, err := gridrpc.Service[float64, float64](client, "square").Go(ctx, &in,
		gridrpc.Keep(time.Hour), gridrpc.Watch(func(e gridrpc.Event) { events <- e }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range events {
		if e.What == gridrpc.Began { // from now on the server keeps the call
			break
		}
	}
	id := call.ID()
	client.Close()

	later, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer later.Close()
	kept, err := later.Kept(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, k := range kept {
		fmt.Println(k.Service, "at", k.Server, k.ID == id)
	}
	again, err := gridrpc.Attach[float64](ctx, later, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := again.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*out)
	// Output:
	// square at s1 true
	// 9
}

func ExampleKeep()        { ExampleAttach() }
func ExampleSession_ID()  { ExampleAttach() }
func ExampleClient_Kept() { ExampleAttach() }

// A monitoring program lists the services of the platform and the processes of its tree.
func ExampleClient_Describe() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	offers, err := client.Offers(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range offers {
		fmt.Println(o.Service, "at", o.Server)
	}
	root, err := client.Describe(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, child := range root.Children {
		fmt.Println("root", root.Name, "has", child.Name, "server:", child.Server)
	}
	// Output:
	// crash at s1
	// simulate at s1
	// square at s1
	// root ma has s1 server: true
}

func ExampleClient_Offers() { ExampleClient_Describe() }

// A machine that does not see the folder of the platform redeems a token once. From then on its
// programs are clients with the identity of the machine.
func ExampleEnter() {
	defer startPlatform()()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	home, err := os.MkdirTemp("", "identity")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)

	// On a machine of the platform, as "gridrpc token new" does:
	_, secret, err := platform.NewToken(gridrpc.DefaultDir(), platform.TokenTerms{Role: platform.RoleClient, Uses: 1, Lasts: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}

	// On the other machine:
	_, name, err := gridrpc.Enter(ctx, gridrpc.Membership{Dir: home, Token: secret, Name: "laptop"}, false)
	fmt.Println(name, err)
	client, err := gridrpc.Dial(ctx, "", gridrpc.As(gridrpc.Membership{Dir: home}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	in := 3.0
	out, err := gridrpc.Service[float64, float64](client, "square").Call(ctx, &in)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*out)
	// Output:
	// laptop <nil>
	// 9
}

func ExampleAs()         { ExampleEnter() }
func ExampleDefaultDir() { ExampleEnter() }
