package window

import (
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// wholeMax is up to how many bytes the copy of the runtime uses no instruction that copies
// bytes one by one, at which a process could be killed between two bytes of an element.
const wholeMax = 2 << 10

// Copy stores the elements of src in dst, each as a whole. Both begin where an element may.
func Copy(dst, src []byte) {
	if failpoint.Counting {
		failpoint.Here()
	}
	if (uintptr(addressOf(dst))|uintptr(addressOf(src)))%8 == 0 {
		copy(dst, src) // by words at least
		return
	}
	for len(src) > wholeMax {
		copy(dst, src[:wholeMax])
		dst, src = dst[wholeMax:], src[wholeMax:]
	}
	copy(dst, src)
}

func addressOf(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
