package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/goulfm/goulfm/gridrpc/platform"
)

// freeProcess prints free addresses of its machine, for "up" on another machine.
func freeProcess(_ context.Context, ports []string) error {
	for _, port := range ports {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return mistake{"free", port + ": want a port"}
		}
	}
	addrs, err := platform.FreeAddresses(ports)
	for _, addr := range addrs {
		fmt.Println(addr)
	}
	return err
}
