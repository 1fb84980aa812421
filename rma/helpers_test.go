package rma_test

import "runtime"

func yield() { runtime.Gosched() }
