package beat_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
)

// monitored is the program of the process in Example: it is introduced by its standard input and
// output, and sends heartbeats until its end.
func monitored() error {
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	var stream uint32
	var text string
	if _, err := fmt.Scan(&stream, &text); err != nil {
		return err
	}
	key, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	if _, err := e.Accept(stream, key, nil); err != nil {
		return err
	}
	fmt.Println(e.Addr())
	_, err = io.Copy(io.Discard, os.Stdin) // until the other process has ended
	return err
}

// start starts that program, with its standard input and output.
func start() (process *exec.Cmd, in io.WriteCloser, out *bufio.Reader, err error) {
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), variable+"=1")
	process.Stderr = os.Stderr
	pipe, err := process.StdoutPipe()
	if err == nil {
		in, err = process.StdinPipe()
	}
	if err == nil {
		err = process.Start()
	}
	return process, in, bufio.NewReader(pipe), err
}

// variable makes the test program the monitored process.
const variable = "GOULFM_BEAT_MONITORED"

func TestMain(m *testing.M) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run())
	}
	if err := monitored(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A process monitors another one over the loopback interface. They are introduced through pipes.
// The monitored process is killed, and declared dead within two seconds.
func Example() {
	process, in, out, err := start()
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	events := make(chan beat.Event, 100)
	m, err := e.Monitor(adaptive.QoS{Detection: 2 * adaptive.Second}, func(ev beat.Event) { events <- ev })
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, key := m.NextStream(), beat.NewKey()
	fmt.Fprintln(in, stream, hex.EncodeToString(key))
	line, _ := out.ReadString('\n')
	addr, err := netip.ParseAddrPort(strings.TrimSpace(line))
	if err == nil {
		err = m.Connected(beat.Connection{Stream: stream, Addr: addr, Key: key})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range events {
		switch ev.Kind {
		case beat.Reached:
			fmt.Println(ev.Kind)
			_ = process.Process.Kill()
			_ = process.Wait()
		case beat.Dead:
			fmt.Println(ev.Kind, "by", ev.Evidence)
			return
		}
	}
	// Output:
	// reached
	// dead by silence
}

// A quality that is not allowed is an error that names the value and the range.
func ExampleEndpoint_Monitor() {
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	_, err = e.Monitor(adaptive.QoS{Detection: adaptive.Millisecond}, func(beat.Event) {})
	fmt.Println(err)
	// Output: quality of detection: detection within 1ms, want 200ms to 86400s
}
