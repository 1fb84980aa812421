package main

import (
	"math"
	"testing"

	"github.com/goulfm/goulfm/examples/plate"
)

func TestWrongOptions(t *testing.T) {
	good := options{Options: plate.Options{NX: 1, NY: 1}, every: 1}
	if msg := good.wrong(nil); msg != "" {
		t.Errorf("good options refused: %s", msg)
	}
	for name, spoil := range map[string]func(*options){
		"nx":    func(o *options) { o.NX = 0 },
		"ny":    func(o *options) { o.NY = -1 },
		"steps": func(o *options) { o.Steps = -1 },
		"tol":   func(o *options) { o.Tol = math.NaN() },
		"every": func(o *options) { o.every = 0 },
		"print": func(o *options) { o.Print = -1 },
	} {
		o := good
		spoil(&o)
		if o.wrong(nil) == "" {
			t.Errorf("wrong -%s accepted", name)
		}
	}
	if good.wrong([]string{"more"}) == "" {
		t.Error("a stray argument accepted")
	}
}
