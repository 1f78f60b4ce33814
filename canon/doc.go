// Package canon computes the canonical form of JSON texts and the hash of it. Two texts that say the same have the
// same canonical bytes, and so the same [Hash].
//
// # Terminology
//
// The canonical form is that of RFC 8785, the JSON Canonicalization Scheme: no white space,
// members sorted by the UTF-16 code units of their names, the shortest escapes, and numbers
// as ECMAScript writes an IEEE 754 double.
//
// A text is what RFC 8259 calls a JSON text: one value, UTF-8, with white space around it
// if need be. canon takes only texts that say one thing to every reader (RFC 7493, I-JSON):
//
//   - It is valid JSON and valid UTF-8, without a byte order mark.
//   - No string holds a lone surrogate, escaped or not.
//   - No object has two members of the same name, compared after unescaping.
//   - Arrays and objects are nested at most [MaxDepth] deep.
//   - Every number fits a float64, as follows.
//
// A number fits if it is in range, which 1e400 is not, and is no integer that would be
// rounded. An integer is a number spelled with digits alone, behind a minus sign or not. It
// would be rounded if its canonical form had another value. So 9007199254740994 fits, and
// 1000000000000000000000 (canonically 1e+21); 9007199254740993 does not.
// 9223372036854775807 does not either, and 9223372036854775808 does not: it is a power of two, but
// ECMAScript writes it as 9223372036854776000. No two integers share a canonical form.
// All other numbers are rounded, as in ECMAScript: 0.1000000000000000055 is 0.1, 1.0 and
// 1e0 are 1, -0 is 0, 1e-400 is 0, and 9007199254740993.0, which has a fraction and so is
// no integer here, is 9007199254740992.
//
// Noncharacters such as U+FFFF are allowed although RFC 7493 forbids them: nothing is
// ambiguous about them, and a recorder must not lose a text because it holds one.
//
// A kept number is one that does not fit, written as an object that holds its text:
// {"$number":"9223372036854775807"}. Real requests do carry such numbers, so [KeepNumbers]
// keeps them, and [RestoreNumbers] is its inverse.
//
// # Costs
//
// All functions take time proportional to the length of the text, plus sorting for objects
// whose members are not in order. None keeps state: all are safe for concurrent use, and
// none changes or keeps its argument.
package canon
