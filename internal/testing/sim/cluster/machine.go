package cluster

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// The whole state of a rule is reachable from its machine: there is no clock, no goroutine and no
// variable outside. So a machine can be copied, and two can be compared, without support of the
// rule. This makes an exhaustive search of the shipped code possible.

// scratch names fields that hold the result of a Step: the next Step overwrites them.
var scratch = map[string]bool{"out": true, "posts": true, "settled": true}

// copyMachine returns a copy of the object that p points to. The two share nothing that changes.
func copyMachine(p any) any {
	var c copier
	v := reflect.ValueOf(p)
	out := reflect.New(v.Type())
	src := v.UnsafePointer()
	c.copy(out.UnsafePointer(), unsafe.Pointer(&src), v.Type())
	return out.Elem().Interface()
}

// copier records where each copied block lies now: pointers to the same block, or into a block,
// must stay so.
type copier struct{ moved []block }

type block struct {
	from, to unsafe.Pointer
	size     uintptr
}

func (c *copier) find(p unsafe.Pointer) unsafe.Pointer {
	for _, b := range c.moved {
		if off := uintptr(p) - uintptr(b.from); off < b.size {
			return unsafe.Add(b.to, off)
		}
	}
	return nil
}

func (c *copier) copy(dst, src unsafe.Pointer, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		*(*unsafe.Pointer)(dst) = c.pointer(*(*unsafe.Pointer)(src), t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !scratch[f.Name] {
				c.copy(unsafe.Add(dst, f.Offset), unsafe.Add(src, f.Offset), f.Type)
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			off := uintptr(i) * t.Elem().Size()
			c.copy(unsafe.Add(dst, off), unsafe.Add(src, off), t.Elem())
		}
	case reflect.Slice:
		c.slice(reflect.NewAt(t, dst).Elem(), reflect.NewAt(t, src).Elem())
	case reflect.Map:
		c.table(reflect.NewAt(t, dst).Elem(), reflect.NewAt(t, src).Elem())
	case reflect.Interface:
		if v := reflect.NewAt(t, src).Elem(); !v.IsNil() {
			reflect.NewAt(t, dst).Elem().Set(c.value(v.Elem()))
		}
	default: // no pointer, or a pointer to constant data: strings, functions
		reflect.NewAt(t, dst).Elem().Set(reflect.NewAt(t, src).Elem())
	}
}

func (c *copier) pointer(p unsafe.Pointer, t reflect.Type) unsafe.Pointer {
	if p == nil {
		return nil
	}
	if q := c.find(p); q != nil {
		return q
	}
	q := reflect.New(t).UnsafePointer()
	c.moved = append(c.moved, block{p, q, t.Size()})
	c.copy(q, p, t)
	return q
}

func (c *copier) slice(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	n, elem := src.Len(), src.Type().Elem()
	out := reflect.MakeSlice(src.Type(), n, n)
	dst.Set(out)
	from, to := src.UnsafePointer(), out.UnsafePointer()
	switch elem.Kind() {
	case reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Int, reflect.String:
		reflect.Copy(out, src)
		return
	}
	c.moved = append(c.moved, block{from, to, uintptr(n) * elem.Size()})
	for i := range n {
		off := uintptr(i) * elem.Size()
		c.copy(unsafe.Add(to, off), unsafe.Add(from, off), elem)
	}
}

func (c *copier) table(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	out := reflect.MakeMapWithSize(src.Type(), src.Len())
	for it := src.MapRange(); it.Next(); {
		out.SetMapIndex(c.value(it.Key()), c.value(it.Value()))
	}
	dst.Set(out)
}

// value returns a copy of v, which need not be addressable.
func (c *copier) value(v reflect.Value) reflect.Value {
	in, out := reflect.New(v.Type()), reflect.New(v.Type())
	in.Elem().Set(v)
	c.copy(out.UnsafePointer(), in.UnsafePointer(), v.Type())
	return out.Elem()
}

// hashMachine digests the object that p points to: equal states have equal digests. Times count
// from now, so that an unchanged state has the same digest at a later time.
func hashMachine(p any, now mono.Time) world.Hash {
	d := digester{hash: world.NewHash(), now: now, seen: map[unsafe.Pointer]uint64{}}
	v := reflect.ValueOf(p)
	src := v.UnsafePointer()
	d.add(unsafe.Pointer(&src), v.Type())
	return d.hash
}

type digester struct {
	hash world.Hash
	now  mono.Time
	seen map[unsafe.Pointer]uint64
}

var timeType = reflect.TypeFor[mono.Time]()

func (d *digester) add(src unsafe.Pointer, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		p := *(*unsafe.Pointer)(src)
		if n, known := d.seen[p]; known || p == nil {
			d.hash.Add(n)
			return
		}
		d.seen[p] = uint64(len(d.seen) + 1)
		d.add(p, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !scratch[f.Name] {
				d.add(unsafe.Add(src, f.Offset), f.Type)
			}
		}
	case reflect.Array:
		d.array(src, t.Elem(), t.Len())
	case reflect.Slice:
		v := reflect.NewAt(t, src).Elem()
		d.hash.Add(uint64(v.Len()))
		d.array(v.UnsafePointer(), t.Elem(), v.Len())
	case reflect.Map:
		d.table(reflect.NewAt(t, src).Elem())
	case reflect.Interface:
		if v := reflect.NewAt(t, src).Elem(); !v.IsNil() {
			in := reflect.New(v.Elem().Type())
			in.Elem().Set(v.Elem())
			d.add(in.UnsafePointer(), in.Type().Elem())
		}
	case reflect.String:
		for _, b := range []byte(*(*string)(src)) {
			d.hash.Add(uint64(b))
		}
	case reflect.Func: // never changes
	default:
		d.number(reflect.NewAt(t, src).Elem())
	}
}

func (d *digester) number(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			d.hash.Add(1)
		} else {
			d.hash.Add(0)
		}
	case v.Type() == timeType && v.Int() != math.MinInt64: // the minimum stands for never
		d.hash.Add(uint64(v.Int() - int64(d.now)))
	case v.CanInt():
		d.hash.Add(uint64(v.Int()))
	default:
		d.hash.Add(v.Uint())
	}
}

func (d *digester) array(src unsafe.Pointer, elem reflect.Type, n int) {
	for i := range n {
		d.add(unsafe.Add(src, uintptr(i)*elem.Size()), elem)
	}
}

// table is independent of the order of the keys.
func (d *digester) table(v reflect.Value) {
	var sum world.Hash
	for it := v.MapRange(); it.Next(); {
		e := digester{hash: world.NewHash(), now: d.now, seen: d.seen}
		for _, x := range []reflect.Value{it.Key(), it.Value()} {
			in := reflect.New(x.Type())
			in.Elem().Set(x)
			e.add(in.UnsafePointer(), x.Type())
		}
		sum += e.hash
	}
	d.hash.Add(uint64(sum))
}
