package coverage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// ReadReceipts returns the tests in all receipts in dir. cut are the packages whose receipt ends in the middle of a
// line because their process was killed. The error is [fs.ErrNotExist] if dir does not exist.
func ReadReceipts(dir string) (tests []usage.Receipt, cut []string, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, nil, err // the error names it
	}
	err = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != usage.ReceiptExtension {
			return err
		}
		data, err := store.ReadFile(file)
		if err != nil {
			return err
		}
		found, err := parseReceipts(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if len(found) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
			cut = append(cut, found[0].Package)
		}
		tests = append(tests, found...)
		return nil
	})
	return tests, cut, err
}

// parseReceipts reads the complete lines of a receipt.
func parseReceipts(data []byte) (tests []usage.Receipt, err error) {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(whole) {
		var t usage.Receipt
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(tests)+1, err)
		}
		wayOut := "leave the receipts again"
		if t.Version > usage.ReceiptVersion {
			wayOut = "it was written by a newer traceforge: upgrade (go get -u github.com/traceforge/traceforge-go/cmd/traceforge)"
		}
		if t.Version != usage.ReceiptVersion {
			return nil, fmt.Errorf("line %d is of version %d of receipts, and this command reads %d: %s",
				len(tests)+1, t.Version, usage.ReceiptVersion, wayOut)
		}
		tests = append(tests, t)
	}
	return tests, nil
}
