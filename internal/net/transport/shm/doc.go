//go:build !linux

// Package shm joins the processes of one node through shared memory. It exists
// on Linux only: elsewhere ranks are goroutines of one process.
package shm
