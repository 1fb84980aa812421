package relayout

// Move is a stretch of elements that one rank of the old distribution and one rank of the
// new distribution store contiguously. All figures are in elements.
type Move struct {
	Start, Count int
	From, To     int // ranks: From in the old distribution, To in the new one
	FromOffset   int // in the storage of From
	ToOffset     int // in the storage of To
}

// Moves returns the moves of the elements from one distribution to the other, in the order of
// the elements. Both must have passed Check with the same total. Elements that stay at their rank
// are moves, too, because their offset may change.
func Moves(from, to Dist) []Move {
	old, now := from.pieces(), to.pieces()
	var moves []Move
	for i, j := 0, 0; i < len(old) && j < len(now); {
		a, b := old[i], now[j]
		start, end := max(a.Start, b.Start), min(a.Start+a.Count, b.Start+b.Count)
		if start < end {
			moves = join(moves, Move{
				Start: start, Count: end - start, From: a.rank, To: b.rank,
				FromOffset: a.offset + start - a.Start, ToOffset: b.offset + start - b.Start,
			})
		}
		if a.Start+a.Count <= end {
			i++
		}
		if b.Start+b.Count <= end {
			j++
		}
	}
	return moves
}

// join appends a move, or lengthens the last one if the new one continues it: a distribution may
// cut at an arbitrary place.
func join(moves []Move, m Move) []Move {
	if len(moves) > 0 {
		last := &moves[len(moves)-1]
		if last.From == m.From && last.To == m.To && last.FromOffset+last.Count == m.FromOffset && last.ToOffset+last.Count == m.ToOffset {
			last.Count += m.Count
			return moves
		}
	}
	return append(moves, m)
}
