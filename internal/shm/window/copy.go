package window

import (
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// wholeMax is the length up to which the copy of the runtime uses no instruction that copies single
// bytes. A process could be killed inside such an instruction between two bytes of an element.
const wholeMax = 2 << 10

// Copy stores the elements of src in dst, each as a whole. Both must be aligned for their elements.
func Copy(dst, src []byte) {
	if failpoint.Counting {
		failpoint.Here()
	}
	if (uintptr(addressOf(dst))|uintptr(addressOf(src)))%8 == 0 {
		copy(dst, src) // copies whole words or larger units
		return
	}
	for len(src) > wholeMax {
		copy(dst, src[:wholeMax])
		dst, src = dst[wholeMax:], src[wholeMax:]
	}
	copy(dst, src)
}

func addressOf(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
