package pattern

import "regexp/syntax"

// Dummy returns a string that the pattern finds, made from its first alternatives and as short as they allow. Dummies
// for different numbers differ if the pattern permits it.
func (p *Pattern) Dummy(n int) string { return p.sample(p.group, n) }

// sample returns a string that a group of the pattern matches; group 0 is the whole pattern.
func (p *Pattern) sample(group, n int) string {
	tree, _ := syntax.Parse(p.re.String(), syntax.Perl) // New parsed it without an error
	var choices [][]rune
	shape(captured(tree, group), &choices)
	text := make([]rune, len(choices))
	for i := len(choices) - 1; i >= 0; i-- { // n as a number whose digits are the choices
		text[i] = choices[i][n%len(choices[i])]
		n /= len(choices[i])
	}
	return string(text)
}

// captured returns the part of a pattern that is a given group.
func captured(re *syntax.Regexp, group int) *syntax.Regexp {
	if group == 0 || re.Op == syntax.OpCapture && re.Cap == group {
		return re
	}
	for _, sub := range re.Sub {
		if found := captured(sub, group); found != nil {
			return found
		}
	}
	return nil
}

// shape appends, for each character of a match, the characters that it may be.
func shape(re *syntax.Regexp, choices *[][]rune) {
	const usual, most = 8, 4096 // repetitions of an unbounded part, and characters in total
	times := 1
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			*choices = append(*choices, []rune{c})
		}
	case syntax.OpCharClass:
		*choices = append(*choices, characters(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		*choices = append(*choices, characters([]rune{'a', 'z'}))
	case syntax.OpQuest:
		return
	case syntax.OpStar, syntax.OpPlus:
		times = usual
	case syntax.OpRepeat:
		if times = re.Min; re.Max < 0 {
			times = max(re.Min, usual)
		}
	}
	for range times {
		for _, sub := range re.Sub {
			if len(*choices) > most {
				return
			}
			shape(sub, choices)
			if re.Op == syntax.OpAlternate {
				break
			}
		}
	}
}

// characters returns some characters of a class, preferring letters and digits.
func characters(ranges []rune) []rune {
	var all []rune
	for _, c := range "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= c && c <= ranges[i+1] {
				all = append(all, c)
			}
		}
	}
	switch {
	case all != nil:
		return all
	case len(ranges) > 0:
		return ranges[:1]
	}
	return []rune{'?'} // a class that nothing matches
}
