package main

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var midcopies = flag.Int("midcopy", 64, "how many senders are killed in the middle of a message")

// TestSenderDiesInMidCopy: real processes end while they, or the kernel for them, write a message
// into the receiver's memory. No byte is written there once the receive has failed.
func TestSenderDiesInMidCopy(t *testing.T) {
	longtest.Skip(t, "jobs of 33 processes")
	const senders = 32
	program := build(t, "./testdata/midcopy")
	brokenOff := 0
	for killed := 0; killed < *midcopies; killed += senders {
		got := goulfmCommand(t, "", "run", "-q", "-n", fmt.Sprint(senders+1), "--timeout", "60s", program)
		if !assert.Zero(t, got.code, "%s%s", got.out, got.err) {
			return
		}
		var n int
		_, err := fmt.Sscanf(got.out, "broken off: %d", &n)
		assert.NoError(t, err, got.out)
		brokenOff += n
	}
	assert.Positive(t, brokenOff, "no sender died before its message was whole")
	t.Logf("%d senders, %d messages broken off", *midcopies, brokenOff)
}
