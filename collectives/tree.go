package collectives

// fanIn goes up the binomial tree whose root is rank 0: take for each child,
// in rank order, then give towards the parent.
func (x *call) fanIn(take, give func(peer int) error) error {
	for bit := 1; bit < x.n; bit <<= 1 {
		if x.me&bit != 0 {
			return give(x.me - bit)
		}
		if x.me+bit < x.n {
			if err := take(x.me + bit); err != nil {
				return err
			}
		}
	}
	return nil
}
