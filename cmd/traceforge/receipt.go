package main

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/snapshot"
)

// writeReceipts writes records in the terms of the call contract (LC), a line of JSON each. What
// they refer to is read from the store.
func writeReceipts(con *console, dir string, records []record) error {
	store, _, err := openStore(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	for _, r := range records {
		recorded, err := contract.FromSnapshot(snapshot.Record{Provider: r.provider, Snapshot: r.snapshot}, store)
		if err != nil {
			return fmt.Errorf("%s: %w", r.snapshot.ID, err)
		}
		line, err := json.Marshal(recorded)
		if err != nil {
			return fmt.Errorf("%s: %w", r.snapshot.ID, err)
		}
		if _, err := con.stdout.WriteString(printableText(string(line)) + "\n"); err != nil {
			return err
		}
	}
	return con.stdout.Flush()
}
