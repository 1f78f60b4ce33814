package drift

import "slices"

// An edit is where two lists differ: recorded[a0:a1] became got[b0:b1].
type edit struct{ a0, a1, b0, b1 int }

// edits returns where two lists differ, in order; between two edits is at least one equal element.
// Elements that are in both lists once hold the lists together, so that an inserted line is one
// insertion. Time is O(n log n), memory O(n).
func edits[T comparable](a, b []T) []edit {
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
	m.compare(edit{0, len(a), 0, len(b)}, 0)
	return m.found
}

// A matcher compares two lists whose elements are numbers.
type matcher struct {
	a, b  []int32
	uses  []use // by number, for the region at hand
	cells []uint16
	found []edit
}

// A use is how often an element is in a region, and where it was last.
type use struct{ inA, inB, a, b int32 }

const (
	maxCells = 1 << 16 // of the table that compares a small region exactly
	maxDepth = 8       // of regions within regions
)

// compare adds the edits of a region.
func (m *matcher) compare(r edit, depth int) {
	for r.a0 < r.a1 && r.b0 < r.b1 && m.a[r.a0] == m.b[r.b0] {
		r.a0++
		r.b0++
	}
	for r.a0 < r.a1 && r.b0 < r.b1 && m.a[r.a1-1] == m.b[r.b1-1] {
		r.a1--
		r.b1--
	}
	n, k := r.a1-r.a0, r.b1-r.b0
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
	for _, at := range append(anchors, [2]int{r.a1, r.b1}) {
		m.compare(edit{from.a0, at[0], from.b0, at[1]}, depth+1)
		from.a0, from.b0 = at[0]+1, at[1]+1
	}
}

// add adds an edit, and makes one of it and the last where nothing is between them.
func (m *matcher) add(r edit) {
	if last := len(m.found) - 1; last >= 0 && m.found[last].a1 == r.a0 && m.found[last].b1 == r.b0 {
		m.found[last].a1, m.found[last].b1 = r.a1, r.b1
		return
	}
	m.found = append(m.found, r)
}

// anchors returns the elements that are in both sides of a region once, and in the same order: the
// longest such list.
func (m *matcher) anchors(r edit) (anchors [][2]int) {
	for i := r.a0; i < r.a1; i++ {
		u := &m.uses[m.a[i]]
		u.inA, u.a = u.inA+1, int32(i)
	}
	for i := r.b0; i < r.b1; i++ {
		u := &m.uses[m.b[i]]
		u.inB, u.b = u.inB+1, int32(i)
	}
	var once [][2]int
	for i := r.a0; i < r.a1; i++ {
		if u := m.uses[m.a[i]]; u.inA == 1 && u.inB == 1 {
			once = append(once, [2]int{i, int(u.b)})
		}
	}
	for i := r.a0; i < r.a1; i++ {
		m.uses[m.a[i]] = use{}
	}
	for i := r.b0; i < r.b1; i++ {
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
func (m *matcher) exact(r edit) {
	a, b := m.a[r.a0:r.a1], m.b[r.b0:r.b1]
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
		at := edit{r.a0 + i, r.a0 + i, r.b0 + j, r.b0 + j}
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i++
			j++
			continue
		case j == len(b) || i < len(a) && m.cells[(i+1)*row+j] >= m.cells[i*row+j+1]:
			i++
			at.a1++
		default:
			j++
			at.b1++
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
