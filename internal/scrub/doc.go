// Package scrub replaces varying and secret values in the texts of a call with placeholders (design R12). In replay it
// puts the values of that run in their places.
//
// A placeholder is {{name:n}}. n counts the values of that name in the order in which the request has them, its
// messages last. So the placeholders of a request do not depend on earlier calls, and a conversation keeps its
// placeholders as it grows. {{name:+n}} is a secret that first appeared in an answer; n counts those of the test. {{}}
// marks the following text as one that only looks like a placeholder. docs/format.md has the grammar.
//
// [Rules] find values in a text. [Values] belong to one request: [Rules.Live] makes them and replaces them in the
// request, [Values.Answer] replaces them in an answer before it is stored, and [Values.Restore] puts the values of a
// replay in their places.
package scrub
