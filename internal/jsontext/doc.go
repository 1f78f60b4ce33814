// Package jsontext is the one room that reads and writes JSON texts. It is named after the standard
// library's encoding/json/jsontext, so that it can give way to that.
//
// [Parse] scans a text once; a [Value] visits what it holds without copying: numbers, strings and
// objects keep the bytes that were sent. The functions that write return canonical spellings.
//
// # Lone surrogates
//
// An escaped lone surrogate is JSON, but no Go string can hold it. Each reader names its policy:
// [ParseStrict], and so package canon, refuses it; [Parse], for provider's codecs, keeps it as it is
// spelled, and [Value.Text] reports that it is no text; [ParseReplacing] makes it U+FFFD; [ParseLenient],
// package stream, [Unescape] and [AppendRune] pass it on, so that sessions hash it as JavaScript does.
package jsontext
