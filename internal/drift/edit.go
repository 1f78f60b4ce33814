package drift

import "slices"

// An Edit is a difference between two lists: recorded[A0:A1] became got[B0:B1].
type Edit struct{ A0, A1, B0, B1 int }

// Edits returns the differences between two lists in order; any two are separated by at least one equal element.
// Elements that occur once in both lists anchor the comparison, so that an inserted line is one insertion. Where there
// are none, a few edits are still found. It takes O(n log n) time and O(n) memory.
func Edits[T comparable](a, b []T) []Edit {
	m := matcher{a: make([]int32, len(a)), b: make([]int32, len(b))}
	numbers := map[T]int32{}
	for i, list := range [][]T{a, b} {
		to := [][]int32{m.a, m.b}[i]
		for j, element := range list {
			n, known := numbers[element]
			if !known {
				n = int32(len(numbers))
				numbers[element] = n
			}
			to[j] = n
		}
	}
	m.compare(Edit{0, len(a), 0, len(b)}, 0)
	return m.found
}

// A matcher compares two lists whose elements are numbers.
type matcher struct {
	a, b  []int32
	found []Edit
}

// A use is how often an element occurs on each side of a region, and its last position on the second.
type use struct{ inA, inB, b int }

const (
	maxCells = 1 << 16 // cells of the table that compares a small region exactly
	maxDepth = 8       // of nested regions
	maxSteps = 64      // elements that are added or removed in a region without anchors
)

// compare adds the edits of a region. The parts that it compares are separated by equal elements, so that edits are
// never adjacent.
func (m *matcher) compare(r Edit, depth int) {
	for r.A0 < r.A1 && r.B0 < r.B1 && m.a[r.A0] == m.b[r.B0] {
		r.A0++
		r.B0++
	}
	for r.A0 < r.A1 && r.B0 < r.B1 && m.a[r.A1-1] == m.b[r.B1-1] {
		r.A1--
		r.B1--
	}
	n, k := r.A1-r.A0, r.B1-r.B0
	var pairs [][2]int
	switch {
	case n == 0 && k == 0:
		return
	case n == 0 || k == 0 || depth == maxDepth: // all of it differs
	case n <= maxCells/k: // n*k may overflow a 32-bit int
		pairs = m.exact(r)
	default:
		if pairs = m.anchors(r); len(pairs) == 0 {
			pairs = m.fewest(r)
		}
	}
	if len(pairs) == 0 {
		m.found = append(m.found, r)
		return
	}
	from := r
	for _, at := range append(pairs, [2]int{r.A1, r.B1}) {
		m.compare(Edit{from.A0, at[0], from.B0, at[1]}, depth+1)
		from.A0, from.B0 = at[0]+1, at[1]+1
	}
}

// anchors returns the elements that are in both sides of a region once, and in the same order: the
// longest such list.
func (m *matcher) anchors(r Edit) (anchors [][2]int) {
	uses := make(map[int32]use, r.A1-r.A0)
	for _, element := range m.a[r.A0:r.A1] {
		uses[element] = use{inA: uses[element].inA + 1}
	}
	for i := r.B0; i < r.B1; i++ {
		u := uses[m.b[i]]
		uses[m.b[i]] = use{u.inA, u.inB + 1, i}
	}
	var once [][2]int
	for i := r.A0; i < r.A1; i++ {
		if u := uses[m.a[i]]; u.inA == 1 && u.inB == 1 {
			once = append(once, [2]int{i, u.b})
		}
	}
	return increasing(once)
}

// increasing returns the longest list of pairs, which are in the order of their first numbers, whose
// second numbers increase too.
func increasing(pairs [][2]int) [][2]int {
	var ends []int // of lists of each length, the pair with the least second number
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(end, second int) int { return pairs[end][1] - second })
		if before[i] = -1; n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	longest := make([][2]int, len(ends))
	for n, at := len(ends)-1, 0; n >= 0; n-- {
		if at = before[at]; n == len(ends)-1 {
			at = ends[n]
		}
		longest[n] = pairs[at]
	}
	return longest
}

// fewest returns the elements that stay if as few as possible of a region are added or removed (Myers, "An O(ND)
// Difference Algorithm"). It returns none if these are more than maxSteps.
func (m *matcher) fewest(r Edit) (pairs [][2]int) {
	a, b := m.a[r.A0:r.A1], m.b[r.B0:r.B1]
	var far diagonals
	var before [maxSteps + 1]diagonals // by steps
	for steps := range before {
		before[steps] = far
		for k := middle - steps; k <= middle+steps; k += 2 {
			i, _ := far.next(k, steps)
			for i < len(a) && i-k+middle < len(b) && a[i] == b[i-k+middle] {
				i++
			}
			if far[k] = i; i < len(a) || i-k+middle < len(b) {
				continue
			}
			for ; steps >= 0; steps-- { // back to the start
				start, from := before[steps].next(k, steps)
				for i > start {
					i--
					pairs = append(pairs, [2]int{r.A0 + i, r.B0 + i - k + middle})
				}
				i, k = before[steps][from], from
			}
			slices.Reverse(pairs)
			return pairs
		}
	}
	return nil
}

// middle is the diagonal of elements at equal places in a region. Those before it have more elements on its second
// side.
const middle = maxSteps + 1

// diagonals are how many elements of a region's first side are compared on each diagonal.
type diagonals [2*maxSteps + 3]int

// next returns where the comparison goes on in a diagonal after a step, and the diagonal that the step leaves.
func (far *diagonals) next(k, steps int) (i, from int) {
	if k == middle-steps || k != middle+steps && far[k-1] < far[k+1] {
		return far[k+1], k + 1
	}
	return far[k-1] + 1, k - 1
}

// exact returns the longest list of elements that occur on both sides of a small region in the same order.
func (m *matcher) exact(r Edit) (pairs [][2]int) {
	pairs = likest(r.A1-r.A0, r.B1-r.B0, func(i, j int) int {
		if m.a[r.A0+i] == m.b[r.B0+j] {
			return 1
		}
		return 0
	})
	for i := range pairs {
		pairs[i][0], pairs[i][1] = pairs[i][0]+r.A0, pairs[i][1]+r.B0
	}
	return pairs
}

// matched is likest, except that long lists are paired from their start.
func matched(n, m int, likeness func(i, j int) int) (pairs [][2]int) {
	const most = 400 // number of likenesses
	if n*m > most {
		for i := range min(n, m) {
			if likeness(i, i) > 0 {
				pairs = append(pairs, [2]int{i, i})
			}
		}
		return pairs
	}
	return likest(n, m, likeness)
}

// likest pairs elements of two lists in order so that the sum of their likenesses is the highest.
func likest(n, m int, likeness func(i, j int) int) (pairs [][2]int) {
	row := m + 1
	best := make([]int32, (n+1)*row) // sums, from two elements on
	for i := n - 1; i >= 0; i-- {
		here, below := best[i*row:(i+1)*row], best[(i+1)*row:(i+2)*row]
		for j := m - 1; j >= 0; j-- {
			here[j] = max(below[j], here[j+1], below[j+1]+int32(likeness(i, j)))
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		here, below := best[i*row:], best[(i+1)*row:]
		switch like := int32(likeness(i, j)); {
		case like > 0 && here[j] == below[j+1]+like:
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		case here[j] == below[j]:
			i++
		default:
			j++
		}
	}
	return pairs
}
