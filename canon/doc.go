// Package canon computes the canonical form of JSON texts and its hash. Two texts with the same meaning have the same
// canonical bytes and therefore the same [Hash].
//
// # Terminology
//
// The canonical form is that of RFC 8785, the JSON Canonicalization Scheme: no white space,
// members sorted by the UTF-16 code units of their names, the shortest escapes, and numbers
// as ECMAScript writes an IEEE 754 double.
//
// A text is a JSON text as defined by RFC 8259: one value in UTF-8, optionally surrounded by white space. canon accepts
// only texts that every reader understands in the same way (RFC 7493, I-JSON):
//
//   - It is valid JSON and valid UTF-8, without a byte order mark.
//   - No string contains a lone surrogate, escaped or not.
//   - No object has two members of the same name, compared after unescaping.
//   - Arrays and objects are nested at most [MaxDepth] deep.
//   - Every number fits a float64, as follows.
//
// A number fits if it is in range, which 1e400 is not, and is not an integer that would be rounded. An integer is a
// number written with digits only, after an optional minus sign. It would be rounded if its canonical form had another
// value. So 9007199254740994 and 1000000000000000000000 (canonically 1e+21) fit; 9007199254740993 and
// 9223372036854775807 do not. 9223372036854775808 does not fit either: it is a power of two, but ECMAScript writes it
// as 9223372036854776000. No two integers have the same canonical form.
//
// All other numbers are rounded as in ECMAScript: 0.1000000000000000055 is 0.1, 1.0 and 1e0 are 1, -0 is 0, and 1e-400
// is 0. 9007199254740993.0 has a fraction, so it is no integer here and becomes 9007199254740992.
//
// Noncharacters such as U+FFFF are allowed although RFC 7493 forbids them: they are unambiguous, and a recorder must
// not lose a text that contains one.
//
// A kept number is a number that does not fit, written as an object with its text: {"$number":"9223372036854775807"}.
// Real requests contain such numbers, so [KeepNumbers] keeps them, and [RestoreNumbers] is its inverse.
//
// # Costs
//
// All functions take time proportional to the length of the text, plus the time to sort objects whose members are not
// in order. They keep no state, are safe for concurrent use, and neither change nor retain their arguments.
package canon
