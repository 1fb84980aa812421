package faultproxy_test

import (
	"fmt"
	"io"
	"net"

	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

// The first connection is cut after five bytes; the second one works.
func ExampleNew() {
	target, _ := net.Listen("tcp", "127.0.0.1:0")
	defer target.Close()
	r, err := faultproxy.New(target.Addr().String(), faultproxy.First(
		faultproxy.Script{Faults: []faultproxy.Fault{{Direction: faultproxy.ToTarget, At: 5, Act: faultproxy.Cut}}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for range 2 {
		dialer, _ := net.Dial("tcp", r.Addr())
		end, _ := target.Accept()
		_, _ = io.WriteString(dialer, "a letter")
		_ = dialer.(*net.TCPConn).CloseWrite()
		got, err := io.ReadAll(end)
		fmt.Printf("%q, whole: %v\n", got, err == nil)
		end.Close()
		dialer.Close()
	}
	// Output:
	// "a let", whole: false
	// "a letter", whole: true
}
