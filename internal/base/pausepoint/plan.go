package pausepoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Variable names the environment variable that holds the plan of pauses.
const Variable = "GOULFM_PAUSE"

// A plan selects the visits and places that pause, and the lengths of the pauses.
type plan struct {
	seed     uint64
	rate     uint64
	min, max time.Duration
	place    string
}

// parse reads the value of GOULFM_PAUSE.
func parse(text string) (plan, error) {
	p := plan{seed: 1, rate: 1000, min: time.Millisecond, max: 50 * time.Millisecond}
	for setting := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(setting, "=")
		var err error
		switch key {
		case "seed":
			p.seed, err = strconv.ParseUint(value, 10, 64)
		case "rate":
			p.rate, err = strconv.ParseUint(value, 10, 64)
		case "min":
			p.min, err = time.ParseDuration(value)
		case "max":
			p.max, err = time.ParseDuration(value)
		case "place":
			p.place = value
		default:
			err = fmt.Errorf("unknown setting %q: want seed, rate, min, max or place", key)
		}
		if err != nil {
			return plan{}, err
		}
	}
	if p.rate == 0 || p.min < 0 || p.max < p.min {
		return plan{}, fmt.Errorf("want rate of at least 1 and 0 <= min <= max")
	}
	return p, nil
}

// pause returns how long the visit pauses, 0 for most visits. It depends on nothing but the plan
// and the number of the visit.
func (p *plan) pause(visit uint64) time.Duration {
	r := mix(p.seed + visit*0x9e3779b97f4a7c15)
	if r%p.rate != 0 {
		return 0
	}
	return p.min + time.Duration(mix(r)%uint64(p.max-p.min+1))
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
