package drift

import "slices"

// An Edit is where two lists differ: recorded[A0:A1] became got[B0:B1].
type Edit struct{ A0, A1, B0, B1 int }

// Edits returns where two lists differ, in order; between two edits is at least one equal element.
// Elements that are in both lists once hold the lists together, so that an inserted line is one
// insertion. Time is O(n log n), memory O(n).
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
	m.uses = make([]use, len(numbers))
	m.compare(Edit{0, len(a), 0, len(b)}, 0)
	return m.found
}

// A matcher compares two lists whose elements are numbers.
type matcher struct {
	a, b  []int32
	uses  []use // by number, for the region at hand
	cells []uint16
	found []Edit
}

// A use is how often an element is in a region, and where it was last.
type use struct{ inA, inB, a, b int32 }

const (
	maxCells = 1 << 16 // of the table that compares a small region exactly
	maxDepth = 8       // of regions within regions
)

// compare adds the edits of a region.
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
	switch {
	case n == 0 && k == 0:
		return
	case n == 0 || k == 0 || depth == maxDepth:
		m.add(r)
		return
	case n <= maxCells/k: // n*k may be more than an int of 32 bits holds
		m.exact(r)
		return
	}
	anchors := m.anchors(r)
	if len(anchors) == 0 {
		m.add(r)
		return
	}
	from := r
	for _, at := range append(anchors, [2]int{r.A1, r.B1}) {
		m.compare(Edit{from.A0, at[0], from.B0, at[1]}, depth+1)
		from.A0, from.B0 = at[0]+1, at[1]+1
	}
}

// add adds an edit, and makes one of it and the last where nothing is between them.
func (m *matcher) add(r Edit) {
	if last := len(m.found) - 1; last >= 0 && m.found[last].A1 == r.A0 && m.found[last].B1 == r.B0 {
		m.found[last].A1, m.found[last].B1 = r.A1, r.B1
		return
	}
	m.found = append(m.found, r)
}

// anchors returns the elements that are in both sides of a region once, and in the same order: the
// longest such list.
func (m *matcher) anchors(r Edit) (anchors [][2]int) {
	for i := r.A0; i < r.A1; i++ {
		u := &m.uses[m.a[i]]
		u.inA, u.a = u.inA+1, int32(i)
	}
	for i := r.B0; i < r.B1; i++ {
		u := &m.uses[m.b[i]]
		u.inB, u.b = u.inB+1, int32(i)
	}
	var once [][2]int
	for i := r.A0; i < r.A1; i++ {
		if u := m.uses[m.a[i]]; u.inA == 1 && u.inB == 1 {
			once = append(once, [2]int{i, int(u.b)})
		}
	}
	for i := r.A0; i < r.A1; i++ {
		m.uses[m.a[i]] = use{}
	}
	for i := r.B0; i < r.B1; i++ {
		m.uses[m.b[i]] = use{}
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

// exact adds the edits of a small region by the longest list of elements that both sides have.
func (m *matcher) exact(r Edit) {
	a, b := m.a[r.A0:r.A1], m.b[r.B0:r.B1]
	row := len(b) + 1
	m.cells = slices.Grow(m.cells[:0], (len(a)+1)*row)[:(len(a)+1)*row]
	clear(m.cells)
	for i, ofA := range slices.Backward(a) {
		for j, ofB := range slices.Backward(b) {
			if ofA == ofB {
				m.cells[i*row+j] = m.cells[(i+1)*row+j+1] + 1
			} else {
				m.cells[i*row+j] = max(m.cells[(i+1)*row+j], m.cells[i*row+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		at := Edit{r.A0 + i, r.A0 + i, r.B0 + j, r.B0 + j}
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i++
			j++
			continue
		case j == len(b) || i < len(a) && m.cells[(i+1)*row+j] >= m.cells[i*row+j+1]:
			i++
			at.A1++
		default:
			j++
			at.B1++
		}
		m.add(at)
	}
}

// matched pairs elements of two lists, in order, so that the sum of their likenesses is the greatest. Elements
// without a likeness are in no pair. Long lists are paired from their beginnings.
func matched(n, m int, likeness func(i, j int) int) (pairs [][2]int) {
	const most = 400 // likenesses
	if n*m > most {
		for i := range min(n, m) {
			if likeness(i, i) > 0 {
				pairs = append(pairs, [2]int{i, i})
			}
		}
		return pairs
	}
	row := m + 1
	best, like := make([]int, (n+1)*row), make([]int, (n+1)*row)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			like[i*row+j] = likeness(i, j)
			best[i*row+j] = max(best[(i+1)*row+j], best[i*row+j+1], best[(i+1)*row+j+1]+like[i*row+j])
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch here := best[i*row+j]; {
		case like[i*row+j] > 0 && here == best[(i+1)*row+j+1]+like[i*row+j]:
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		case here == best[(i+1)*row+j]:
			i++
		default:
			j++
		}
	}
	return pairs
}
