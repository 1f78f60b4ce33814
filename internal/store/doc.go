// Package store reads and writes the directory .ai-snapshots: documents of tests, raw answers, media and the manifest
// (SF "Storage Format", design R4, R5).
//
//	.ai-snapshots/
//	├── .gitattributes  .gitignore  config.json
//	├── manifest.json                      derived, see WriteManifest in package audit
//	└── openai/
//	    ├── shop-agents-testx-3f9a0c41d2be.json        the document: what reviewers read
//	    └── shop-agents-testx-3f9a0c41d2be/            raw answers by call, media by content
//	        1.sse  2.json  3f0c….png
//
// A document is found by its name alone, which [snapshot.DocumentName] computes: reading lists no directory, so neither
// the size of a store nor what other tests record affects a test.
//
// Reading is in load.go. Writing is in commit.go, with a journal (journal.go) under a lock (lock.go); next.go
// determines which records a test has after a run. Answers that were bought and not yet committed are in logs: log.go
// and log_read.go.
package store
