// Package conflict finds the markers that git leaves in a file that it could not merge.
package conflict

import "bytes"

// Line returns the number of the first line that is a conflict marker, counted from 1, or 0. kinds is how many of the
// three kinds of markers that every conflict has were found, because a text may have lines that look like a marker.
// Markers have seven characters, or more if both sides renamed the file.
func Line(data []byte) (first, kinds int) {
	seen, n := map[rune]bool{}, 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		for _, marker := range "<|=>" {
			rest := bytes.TrimLeft(line, string(marker))
			if len(line)-len(rest) < 7 || len(rest) > 0 && rest[0] != ' ' {
				continue
			}
			if first == 0 {
				first = n
			}
			if marker != '|' {
				seen[marker] = true
			}
		}
	}
	return first, len(seen)
}
