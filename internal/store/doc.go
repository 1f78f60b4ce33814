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
// A document is found by its name alone, which [snapshot.DocumentName] tells: reading lists no
// directory, so that neither the size of a store nor what other tests record matters to a test.
//
// Reading is load.go. Writing is commit.go, by a journal (journal.go) under a lock (lock.go); next.go says which
// records a test has after a run. What is bought and not committed is in logs: log.go and log_read.go.
package store
