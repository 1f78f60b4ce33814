// Package snapshot reads, writes and validates documents: the files in which tests keep their calls of models with the
// answers. docs/format.md specifies these files; package store handles the directory that contains them.
//
// # Terminology
//
//   - To record is to call a model and keep the call; to replay is to answer from the record.
//   - A record is one call: a [Snapshot]. It is golden once it is committed.
//   - A document is the calls of one test: a [Document], and a file.
//   - The core of a request or a response is the part of it that describes the model's behavior; times,
//     token counts, latency and the provider's ids are not part of it. See [RequestCore].
//   - Drift is a core that differs from the recorded one.
//   - The seal of a record is the hash of all of it. It detects alterations, which are not drift.
//   - A raw answer is the provider's own bytes, which are in a file next to the document.
//
// # Guarantees
//
// [Parse] accepts only what the format permits. [Document.Write] writes a document without losing anything, in one
// spelling; a document that has this spelling is written unchanged.
//
// A file contains each turn of a conversation once, in short lines. In memory each request is complete, its texts are
// joined, and numbers are as they were sent, in all fields that are a [json.RawMessage] or a [json.Number] (design R1,
// R4).
//
// A hash detects accidental alterations. It is not a signature, and does not stop anybody who computes a new one.
//
// Documents are plain values. All functions are safe for concurrent use, also on the same document as long as nobody
// changes it.
package snapshot
