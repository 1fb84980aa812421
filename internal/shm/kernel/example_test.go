package kernel_test

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/shm/kernel"
)

func ExampleFind() {
	acc := []float64{1, 2, 3}
	in := []float64{10, 20, 30}
	sum := kernel.Find(kernel.Sum, kernel.Float64)
	dst := make([]float64, 3)
	sum(byteview.Bytes(dst), byteview.Bytes(acc), byteview.Bytes(in))
	fmt.Println(dst)
	fmt.Println(kernel.Find(kernel.BAnd, kernel.Float64) == nil)
	// Output:
	// [11 22 33]
	// true
}
