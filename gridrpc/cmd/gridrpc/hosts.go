package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/platform"
)

// sshCommand asks no question, makes no terminal, and detects a lost machine.
const sshCommand = "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3"

// setHosts reads machines by commas, or the number of machines to imitate, into a configuration.
func setHosts(c *platform.Config, text, rsh string) error {
	if text == "" {
		return nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			return mistake{"up", fmt.Sprintf("--hosts %d: want machines, such as a,b,c, or the number of machines to imitate", n)}
		}
		c.Imitate = n
		return nil
	}
	c.Hosts, c.RemoteShell = strings.Split(text, ","), strings.Fields(rsh)
	return nil
}
