// Package jsontext reads and writes JSON texts for all other packages. It is named after the standard library's
// encoding/json/jsontext, by which it can be replaced one day.
//
// [Parse] scans a text once; a [Value] gives access to it without copying: numbers, strings and objects keep the bytes
// that were sent. Functions that write return canonical spellings.
//
// # Lone surrogates
//
// An escaped lone surrogate is valid JSON, but no Go string can contain it. Each reader has a policy: [ParseStrict],
// and so package canon, refuses it. [Parse], which the codecs of provider use, keeps its spelling, and [Value.Text]
// reports that it is no text. [ParseReplacing] replaces it with U+FFFD. [ParseLenient], [Unescape] and [AppendRune]
// pass it on, so that sessions hash it as JavaScript does.
package jsontext
