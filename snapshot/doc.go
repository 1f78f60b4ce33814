// Package snapshot reads, writes and validates documents: the files in which tests keep their calls of models and the
// answers. docs/format.md is the specification of their files; package store has the directory that they are in.
//
// # Terminology
//
//   - To record is to call a model and keep the call; to replay is to answer from the record.
//   - A record is one call: a [Snapshot]. It is golden once it is committed.
//   - A document is the calls of one test: a [Document], and a file.
//   - The core of a request or a response is the part of it that says how the model behaves; times,
//     token counts, latency and the provider's ids are outside. See [RequestCore].
//   - Drift is a core that is not the recorded one.
//   - The seal of a record is the hash of all of it. It finds alterations; it is not drift.
//   - A raw answer is the provider's own bytes, which are in a file beside the document.
//
// # Guarantees
//
// [Parse] takes what the format asks for and nothing else. [Document.Seal] and [Document.Encode] write it without
// losing anything, in one spelling; a document that is in that spelling is written as it was.
//
// A file says each turn of a conversation once, in short lines. In memory each request is whole, its
// texts are joined, and numbers are as they were sent, in all fields that are a [json.RawMessage] or
// a [json.Number] (design R1, R4).
//
// A hash tells alterations that happen; it is no signature, and stops nobody who computes another
// one.
//
// Documents are plain values. All functions are safe for concurrent use, also on one document as
// long as none changes it.
package snapshot
