package main

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// A pointTable holds the action of each goroutine at kill points: all ranks of a process share the
// kill points.
type pointTable struct {
	hook    sync.Once
	perName sync.Map // number of a goroutine to func()
}

var points pointTable

// enter registers f, which is called at each kill point of this goroutine, until leave.
func (t *pointTable) enter(f func()) (leave func()) {
	t.hook.Do(func() {
		onPoints(func() {
			if f, ok := t.perName.Load(goroutine()); ok {
				f.(func())()
			}
		})
	})
	me := goroutine()
	t.perName.Store(me, f)
	return func() { t.perName.Delete(me) }
}

// goroutine returns the number of this goroutine, with which its stack trace begins.
func goroutine() int {
	var text [64]byte
	line := bytes.TrimPrefix(text[:runtime.Stack(text[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(line, []byte(" "))
	n, _ := strconv.Atoi(string(number))
	return n
}
