package main

// The command links all stores: it opens that of any platform, and is the server of --program.
import (
	_ "github.com/goulfm/goulfm/gridrpc/store/jetstream"
	_ "github.com/goulfm/goulfm/gridrpc/store/s3"
)
