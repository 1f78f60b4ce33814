package recorder

import (
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// A givenIDs has the ids in the answers of a run: true for those that an answer gave out, and not only repeated.
type givenIDs struct {
	stored, live  map[string]bool
	served        []string // whole ids from the store, in order, and the URLs for files that Google gives out in a header
	proofs, takes int      // how many answers were searched
	open          []*take  // of these takes, those that had not ended
}

// learn searches the answers since the last time.
func (g *givenIDs) learn(r *run) {
	give := func(to map[string]bool, c *call, answer *provider.Answer, named []string) (all []string) {
		named, all = slices.Concat(named, c.values.All()), handedOut(answer)
		for _, made := range all {
			for _, part := range append(strings.FieldsFunc(made, isBetween), made) {
				to[part] = to[part] || !slices.Contains(named, part)
			}
		}
		return all
	}
	for ; g.proofs < len(r.proofs); g.proofs++ {
		d := r.proofs[g.proofs]
		raw, _ := r.tape.doc.Raw(d.record) // it was served
		if s, err := r.restore(d.call, r.tape, d.record, raw); err == nil {
			made := give(g.stored, d.call, rawAnswer(s.record, s.body), s.record.Source.IDs)
			g.served = slices.Concat(g.served, made, s.record.Response.Headers["x-goog-upload-url"])
		}
	}
	takes := append(g.open, r.takes[g.takes:]...)
	g.open, g.takes = nil, len(r.takes)
	for _, tk := range takes {
		if tk.ending() == underWay {
			g.open = append(g.open, tk)
			continue
		}
		answer, _ := tk.received() // an empty one, if it cannot be decoded
		if tk.origin != nil {
			made := give(g.stored, tk.call, answer, tk.origin.record.Source.IDs)
			g.served = slices.Concat(g.served, made, tk.header.Values("X-Goog-Upload-Url"))
		} else {
			give(g.live, tk.call, answer, tk.ids)
		}
	}
}

// isBetween reports whether a character is between the parts of a name or a URL.
func isBetween(c rune) bool { return strings.ContainsRune("/:?", c) }

// gaveOut reports whether an answer of this run gave out an id, and not only repeated it.
func (g *givenIDs) gaveOut(r *run, id string) bool {
	g.learn(r)
	return g.stored[id] || g.live[id]
}

// nameGiven adds to the ids of a call the values of its placeholders that earlier answers gave out. It writes them as
// records have them, since rules do not tell such values apart.
func (r *run) nameGiven(c *call) {
	for _, value := range c.values.All() {
		if r.given.gaveOut(r, value) && !slices.Contains(c.ids, value) {
			c.ids = append(c.ids, value)
		}
	}
	c.stable = nil
	for _, id := range c.ids {
		switch start, end := r.rules.First(id); {
		case start == end:
			c.stable = append(c.stable, id)
		case r.given.gaveOut(r, id): // with the placeholder that it has in that answer
			c.stable = append(c.stable, r.storedText(id))
		}
	}
}
