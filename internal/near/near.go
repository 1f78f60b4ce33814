// Package near finds the name that a mistyped word was meant to be.
package near

// Name returns the name that is closest to word, the first of several; empty without one.
func Name(word string, names []string) string {
	best, least := "", len(word)/3+2
	for _, name := range names {
		if d := distance(word, name, least); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of two words, or at least most if it is no smaller.
func distance(a, b string, most int) int {
	const longest = 200 // ids and names are shorter
	if len(a)-len(b) >= most || len(b)-len(a) >= most || len(a) > longest {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
