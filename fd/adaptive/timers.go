package adaptive

// timers holds a moment for each of many numbers, and finds the earliest: a heap. Nothing
// is allocated but when a new highest number comes.
type timers struct {
	at    []Time  // by number
	place []int32 // by number: its index in heap; -1 if absent
	heap  []int32
}

// grow makes room for numbers below n, and for no more than that.
func (t *timers) grow(n int) {
	if n <= len(t.at) {
		return
	}
	t.at = append(make([]Time, 0, n), t.at...)
	t.place = append(make([]int32, 0, n), t.place...)
	t.heap = append(make([]int32, 0, n), t.heap...)
	for len(t.at) < n {
		t.at = append(t.at, 0)
		t.place = append(t.place, -1)
	}
}

// earliest returns the number with the earliest moment, any of several with equal moments.
func (t *timers) earliest() (number int, at Time, ok bool) {
	if len(t.heap) == 0 {
		return 0, 0, false
	}
	return int(t.heap[0]), t.at[t.heap[0]], true
}

// set sets the moment of a number, in place of a former one.
func (t *timers) set(number int, at Time) {
	t.at[number] = at
	i := int(t.place[number])
	if i < 0 {
		i = len(t.heap)
		t.heap = append(t.heap, int32(number))
		t.place[number] = int32(i)
	}
	t.up(i)
	t.down(int(t.place[number]))
}

// stop removes the moment of a number.
func (t *timers) stop(number int) {
	i := int(t.place[number])
	if i < 0 {
		return
	}
	last := len(t.heap) - 1
	t.swap(i, last)
	t.heap = t.heap[:last]
	t.place[number] = -1
	if i < last {
		moved := int(t.heap[i])
		t.up(i)
		t.down(int(t.place[moved]))
	}
}

func (t *timers) less(i, j int) bool { return t.at[t.heap[i]] < t.at[t.heap[j]] }

func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.place[t.heap[i]], t.place[t.heap[j]] = int32(i), int32(j)
}

func (t *timers) up(i int) {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (t *timers) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}
