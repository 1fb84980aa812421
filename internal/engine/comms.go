package engine

// A commTable finds the communicator of a context index. Indices are counted up and never used
// again: a page without communicators is given up, so that 64 forgotten ones take 8 bytes.
type commTable []*commPage

const commPageLen = 64

type commPage struct {
	comms [commPageLen]*Comm
	used  int
}

// at returns the communicator of an index; nil: it is not ours, or forgotten.
func (t commTable) at(index uint32) *Comm {
	if i := index / commPageLen; uint64(i) < uint64(len(t)) && t[i] != nil {
		return t[i].comms[index%commPageLen]
	}
	return nil
}

func (t *commTable) put(index uint32, c *Comm) {
	i := int(index / commPageLen)
	for i >= len(*t) {
		*t = append(*t, nil)
	}
	if (*t)[i] == nil {
		(*t)[i] = new(commPage)
	}
	(*t)[i].comms[index%commPageLen] = c
	(*t)[i].used++
}

// forget takes out a communicator that is there.
func (t commTable) forget(index uint32) {
	p := t[index/commPageLen]
	p.comms[index%commPageLen] = nil
	if p.used--; p.used == 0 {
		t[index/commPageLen] = nil
	}
}
