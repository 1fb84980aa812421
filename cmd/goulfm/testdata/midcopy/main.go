// Midcopy has all ranks but 0 send a long message to rank 0, and end themselves somewhere in
// the middle of it. The buffer of a receive that failed is rank 0's again: nothing is written
// there any more (R66).
package main

import (
	"context"
	"fmt"
	"hash/crc64"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/comm"
)

const messageBytes = 16 << 20

func main() { comm.Main(body) }

func body(ctx context.Context, w *comm.Comm) error {
	buf := make([]byte, messageBytes)
	if w.Rank() > 0 {
		return sendAndDie(ctx, w, buf)
	}
	table := crc64.MakeTable(crc64.ECMA)
	whole := 0
	for from := 1; from < w.Size(); from++ {
		clear(buf)
		if err := comm.Send(ctx, w.To(from), []int{0}); err != nil {
			return err
		}
		_, err := comm.Recv(ctx, w.From(from), buf)
		if err == nil {
			whole++
			continue
		}
		before := crc64.Checksum(buf, table)
		if crc64.Checksum(buf, table) != before { // milliseconds later
			return fmt.Errorf("the buffer of a receive from rank %d was written to after it had failed", from)
		}
	}
	fmt.Println("broken off:", w.Size()-1-whole)
	return nil
}

func sendAndDie(ctx context.Context, w *comm.Comm, buf []byte) error {
	for i := range buf {
		buf[i] = byte(i) | 1
	}
	if _, err := comm.Recv(ctx, w.From(0), make([]int, 1)); err != nil {
		return err
	}
	life := time.Duration(rand.IntN(5000)) * time.Microsecond
	time.AfterFunc(life, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	if err := comm.Send(ctx, w.To(0), buf); err != nil {
		return err
	}
	select {}
}
