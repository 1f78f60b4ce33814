// Package snapshot is the record of what a model was asked and what it answered: the file
// format of such records, their validation and hashes, and the store that keeps them beside
// the code that depends on them. docs/format.md is the format's specification.
//
// # Terminology
//
//   - To record is to call a model and keep the call; to replay is to answer from the record.
//   - A record is one call: a [Snapshot]. It is golden once it is committed.
//   - A document is the text of one or more records: a [Document]. In a store each is a file
//     with one record.
//   - The core of a request or a response is the part of it that says how the model behaves; times, token
//     counts, latency and the provider's ids are outside. Its hash is the prompt_hash or the
//     response_hash.
//   - Drift is a core with another hash than the recorded one.
//   - The seal of a record is the hash of all of it. It finds alterations; it is not drift.
//   - A blob is a file that is named by the hash of its content: the bytes that a provider
//     sent, or an envelope.
//   - The manifest lists a store's records and their seals. It can be derived from them.
//
// # Guarantees
//
// [Parse] takes what the format asks for and nothing else. What it takes, [Document.Encode]
// writes with the same hashes and without losing anything, in one spelling. [Store.Load] and
// [Store.Blob] return what was committed or an error. [Store.Commit] is all or nothing, also
// when its process is killed. No path in a store, and no link, leads out of its directory.
//
// A hash tells alterations that happen; it is no signature, and stops nobody who computes it
// anew. Nothing is synced to the disk: after a power failure, git has the records.
//
// # Numbers
//
// Canonical JSON has no integers that a float64 does not hold, but requests do. Files keep
// them as {"$number":"9223372036854775807"} (design R1, [canon.KeepNumbers]). In memory, in
// all fields that are a [json.RawMessage] or a [Number], they are the numbers that were sent:
// Parse restores them and Encode keeps them.
package snapshot
