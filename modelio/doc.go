// Package modelio defines the input and output of models: the messages, parts, requests, responses and chunks of the
// Genkit model contract (GK). [Request], [Response] and [Numbering] are a call over the wire in the same words,
// whatever the wire format.
//
// A [Model] is the one-method seam between an application and a model. [ModelFunc] makes one
// of a function. Package modeltest joins the chunks of a stream into the whole answer, proves that a
// model keeps the contract, and rewrites a request for a model that lacks a capability.
//
// # JSON
//
// Every type reads and writes the JSON that GK gives it, and a round trip loses nothing. A
// member that GK does not name is kept in Unknown. So is a member whose value its field could
// not tell from an absent one: null, and a field's zero value spelled out ("partial":false,
// "ref":"", "index":0). Where a field and an Unknown member have the same name, the field wins
// if it is set. Inputs, outputs and schemas keep their bytes, and so their large integers.
//
// Reading rejects what cannot be kept: a member that appears twice, a lone surrogate, a value of
// another type, a part of two kinds; and an object without a member that GK requires. Writing
// sorts the members by name and writes the required ones always. The errors of both are of type
// [*FormatError] and name the place by JSON pointer.
package modelio
