package main

import (
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
)

func TestAgenda(t *testing.T) {
	type happening struct {
		name string
		at   mono.Time
	}
	var a agenda
	var got []happening
	plan := func(at mono.Time, name string) {
		a.plan(at, func() { got = append(got, happening{name, a.now}) })
	}
	check := func(now mono.Time, want ...happening) {
		t.Helper()
		if a.now != now || !slices.Equal(got, want) {
			t.Errorf("at %v there was %v, want %v and %v", a.now, got, now, want)
		}
		got = nil
	}
	plan(3, "late")
	plan(1, "first")
	plan(1, "second")
	a.plan(2, func() { plan(2, "at once") })
	a.run(2)
	check(2, happening{"first", 1}, happening{"second", 1}, happening{"at once", 2})
	a.run(1)
	check(2)
	plan(7, "last")
	a.drain()
	check(7, happening{"late", 3}, happening{"last", 7})
	a.run(9)
	check(9)
}
