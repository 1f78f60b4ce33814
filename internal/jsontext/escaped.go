package jsontext

// Escaped reports whether anything in v, a string, is escaped. One in which nothing is has its
// canonical spelling.
func (v Value) Escaped() bool { return v.doc != nil && v.doc.nodes[v.at].escaped }
