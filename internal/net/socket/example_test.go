package socket_test

import (
	"bufio"
	"context"
	"fmt"
	"net"

	"github.com/goulfm/goulfm/internal/net/socket"
)

// Two members of a job exchange lines over an encrypted stream.
func ExampleTrust_Serve() {
	trust, err := socket.NewTrust(1, make([]byte, socket.SecretSize)) // a real job draws its secret
	if err != nil {
		fmt.Println(err)
		return
	}
	if trust, err = trust.In(socket.TLS); err != nil {
		fmt.Println(err)
		return
	}
	const birth = 5 // distinguishes this listener from all others at its address, earlier or later
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer listener.Close()
	go trust.Serve(listener, birth, func(member *socket.Conn) {
		defer member.Close()
		line, _ := bufio.NewReader(member).ReadString('\n')
		fmt.Fprint(member, "heard: ", line)
	})

	conn, err := trust.Dial(context.Background(), listener.Addr().String(), birth)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Fprintln(conn, "a secret")
	answer, _ := bufio.NewReader(conn).ReadString('\n')
	fmt.Print(answer)
	// Output:
	// heard: a secret
}
