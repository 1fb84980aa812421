package kron

// A Vector holds the results of the reference code (graph500/graph500 3.0, with the seed 2, 3) for
// a scale.
type Vector struct {
	Scale             int
	Sum               uint64 // FNV-1a of all edges, from and to as 8 bytes each, little endian
	First, Last       [2]uint64
	Loops, Isolated   int
	Degree            int // the largest, without loops
	At                uint64
	Weights           [3]float32
	Roots             []uint64
	Root63            uint64
	Reached0, Inside0 int // from root 0, and from root 63 as well; edges without loops among them
	Levels0, Levels63 []uint64
}

// Vectors are the known ones.
var Vectors = []Vector{
	{10, 0xb43b86c980db5ae1, [2]uint64{299, 797}, [2]uint64{206, 55}, 144, 125, 1977, 684, [3]float32{.490170419, .528551459, .651318908},
		[]uint64{458, 214, 220, 966, 395, 9}, 149, 897, 16239, []uint64{1, 8, 500, 380, 8}, []uint64{1, 1, 126, 703, 66}},
	{14, 0x7e303268181e3065, [2]uint64{14207, 9077}, [2]uint64{12099, 9415}, 326, 3834, 10921, 5452, [3]float32{.129396364, .691036761, .346841365},
		[]uint64{7337, 3434, 3526, 2016, 15463, 6328}, 2389, 12550, 261818, []uint64{1, 282, 9574, 2675, 18}, []uint64{1, 8, 1841, 10052, 646, 2}},
	{16, 0x0b73eebcb307738b, [2]uint64{53430, 37000}, [2]uint64{47449, 59083}, 491, 18721, 25485, 16463, [3]float32{.454299152, .915168881, .333216667},
		[]uint64{29348, 8064, 61854, 29808, 54316, 22032}, 43174, 46803, 1048079, []uint64{1, 27, 8336, 36624, 1805, 10}, []uint64{1, 1, 4587, 38661, 3530, 23}},
	{18, 0x8acbd18e8d5a1c6e, [2]uint64{124678, 60600}, [2]uint64{104822, 42090}, 778, 88452, 59225, 246686, [3]float32{.487968594, .884330034, .892204702},
		[]uint64{117395, 54946, 56428, 32257, 247419, 2403}, 227897, 173585, 4193472, []uint64{1, 2, 13643, 145566, 14315, 58}, []uint64{1, 1, 1609, 119494, 52102, 377, 1}},
	{20, 0x0719cc131020b808, [2]uint64{754405, 286754}, [2]uint64{465986, 734295}, 1158, 402453, 138024, 798169, [3]float32{.471665323, .905820489, .252985775},
		[]uint64{469580, 129031, 989678, 404994, 9614, 869058}, 976393, 645643, 16775818, []uint64{1, 46, 70030, 539775, 35665, 126}, []uint64{1, 12, 8053, 485990, 150747, 836, 4}},
}

// VectorOf returns the Vector of a scale.
func VectorOf(scale int) (v Vector, ok bool) {
	for _, v := range Vectors {
		if v.Scale == scale {
			return v, true
		}
	}
	return v, false
}
