package engine

// Repairs returns the name of c before its repairs, and their number.
func Repairs(c *Comm) (base string, times int) { return c.name.Repairs() }

// Name returns the name of c in errors and diagnoses.
func (c *Comm) Name() string {
	if given := c.given.Load(); given != nil {
		return *given
	}
	return c.name.String()
}

// SetName has errors and diagnoses call c so at this process; "" undoes it.
func (c *Comm) SetName(text string) {
	if text == "" {
		c.given.Store(nil)
		return
	}
	c.given.Store(&text)
}

// Blockless reports whether c has no block in memory although its members share some, and others of
// this process can have one: its collectives and agreements use messages.
func (c *Comm) Blockless() bool {
	return c.p.memory.shares && !c.shared && c.p.others.isNear(c.group.Procs)
}
