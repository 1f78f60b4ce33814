// Package scrub replaces varying and secret values in the texts of a call by placeholders (design R12). A later run's
// values take the places of these.
//
// A placeholder is {{name:n}}. n counts the values of that name in the order in which the request has
// them, its messages last. So a request has the same placeholders whatever was called before it, and a
// conversation keeps those that it has as it goes on. {{name:+n}} is a secret that an answer was the
// first to say; n counts those of the test. {{}} says that the next thing that looks like a placeholder is
// none: it was said so. docs/format.md has the grammar.
//
// [Rules] find values in a text. Values are those of one request: [Rules.Live] makes them, and replaces them in the
// request; [Values.Answer] replaces them in an answer before it is stored, and [Values.Restore] puts those of a replay
// in their places.
package scrub
