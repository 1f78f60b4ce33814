// Package modelio defines the input and output of models: the messages, parts, requests, responses and chunks of the
// Genkit model contract (GK). [Request], [Response] and [Numbering] describe a call to a provider in the same terms,
// independent of the wire format.
//
// A [Model] is the one-method interface between an application and a model. [ModelFunc] makes one from a function.
// Package modeltest joins the chunks of a stream, checks that a model keeps the contract, and rewrites a request for a
// model that lacks a capability.
//
// # JSON
//
// Every type reads and writes the JSON that GK defines for it, and a round trip loses nothing. Members that GK does not
// name are kept in Unknown, and also members whose value the field could not distinguish from an absent one: null, and
// an explicit zero value ("partial":false, "ref":"", "index":0). If a field and an Unknown member have the same name,
// the field takes precedence if it is set. Inputs, outputs and schemas keep their bytes, including large integers.
//
// Reading rejects what cannot be kept: a repeated member, a lone surrogate, a value of the wrong type, a part of two
// kinds, and an object without a member that GK requires. Writing sorts the members by name and always includes the
// required ones. The errors of both are of type [*FormatError] and name the place by JSON pointer.
package modelio
