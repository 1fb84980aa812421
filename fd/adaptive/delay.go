package adaptive

const (
	// window is the number of beats from which the arrival of the next beat is predicted.
	window = 32
	// horizon is about how many beats the errors of these predictions are remembered.
	horizon = 256
	// jump is how far from the first beat of the window x may move, in us, before the window
	// is begun anew: a clock has been changed, or the two have drifted apart for weeks. The
	// sum of a window fits into 32 bits.
	jump = 60_000_000
	// varianceMin is (1 ms)²: no timer is better.
	varianceMin = 1e-6
)

// delays predicts arrivals from x = A - N of the last beats: the arrival here minus the nominal
// time there, so the delay plus the unknown difference of two clocks. The mean of x added to the
// nominal time of the next beat gives its expected arrival.
//
// The spread that counts is that of the prediction error, not that of x: with clocks that
// differ by 50 ppm, x moves by 2 s in 4,096 beats of 10 s, which is no delay. The mean error is a
// part of the prediction: such a drift makes all of the window lag behind by the same.
type delays struct {
	base      int64 // us: the x of the first beat, from which all others are counted
	sum       int32
	x         [window]int32
	next      uint8 // place of the next x
	count     uint8
	errors    uint16  // how many predictions were compared, up to horizon
	errorMean float64 // us
	errorVar  float64 // us²
}

// sample takes the x of a beat.
func (d *delays) sample(x Duration) {
	us := int64(x / Microsecond)
	if d.count == 0 || us-d.base > jump || us-d.base < -jump {
		*d = delays{base: us, errors: d.errors, errorMean: d.errorMean, errorVar: d.errorVar}
	}
	us -= d.base
	if d.count > 0 {
		d.learn(float64(us) - d.mean())
	}
	if d.count == window {
		d.sum -= d.x[d.next]
	} else {
		d.count++
	}
	d.x[d.next] = int32(us)
	d.sum += int32(us)
	d.next = (d.next + 1) % window
}

// mean is the x that is expected, in us above base.
func (d *delays) mean() float64 {
	return float64(d.sum)/float64(d.count) + d.errorMean
}

// learn takes a prediction error into mean and variance, in which the last horizon errors
// weigh most.
func (d *delays) learn(e float64) {
	d.errors = min(d.errors+1, horizon)
	w := 1 / float64(d.errors)
	d.errorMean += w * e
	d.errorVar = (1 - w) * (d.errorVar + w*e*e)
}

// expected returns when a beat of that nominal time is to be expected here.
func (d *delays) expected(nominal Time) Time {
	us := float64(d.base) + d.mean()
	return nominal.Add(Duration(us * float64(Microsecond)))
}

// quickest returns when a beat of that nominal time would be here with the least delay of
// the window.
func (d *delays) quickest(nominal Time) Time {
	least := d.x[0]
	for _, x := range d.x[1:d.count] {
		least = min(least, x)
	}
	return nominal.Add(Duration(d.base+int64(least)) * Microsecond)
}

// variance is that of the prediction error, in s².
func (d *delays) variance() float64 { return max(d.errorVar*1e-12, varianceMin) }
