package main

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// A pointTable knows what each goroutine does at a kill point: all ranks of a process come
// to the same ones.
type pointTable struct {
	hook    sync.Once
	perName sync.Map // number of a goroutine to func()
}

var points pointTable

// enter has f called at each kill point that this goroutine comes to, until leave.
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

// goroutine is the number of this goroutine, which its stack begins with.
func goroutine() int {
	var text [64]byte
	line := bytes.TrimPrefix(text[:runtime.Stack(text[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(line, []byte(" "))
	n, _ := strconv.Atoi(string(number))
	return n
}
