package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

var showCommand = command{
	name:     "show",
	synopsis: "[--json | --receipt] [--dir DIR] ID",
	summary:  "show recorded conversations",
	help: `
Shows what was sent to a model and what it answered. ID is the id of a snapshot or the
beginning of one id, the path of a file, or the name of a test, which shows all of its
calls and those of its subtests in order.

Characters that could drive the terminal or hide text are shown as JSON escapes. There is
colour where standard output is a terminal and NO_COLOR is not set. Lines are as wide as
COLUMNS says, else 100 characters.

  --dir DIR  the store
  --json     print the records as one document of the snapshot format, whose members
             docs/format.md explains
  --receipt  print the params, receipt and output envelope of the call contract,
             a line of JSON for each record of the store
`,
	run: runShow,
}

func runShow(_ context.Context, con *console, args []string) error {
	flags := newFlags()
	dir := flags.String("dir", "", "")
	asJSON := flags.Bool("json", false, "")
	asReceipt := flags.Bool("receipt", false, "")
	ids, err := arguments(flags, args, 1, 1)
	if err != nil {
		return err
	}
	if *asJSON && *asReceipt {
		return usagef("--json and --receipt exclude each other")
	}
	records, err := selectRecords(*dir, ids[0])
	if len(records) > 0 {
		write := writeConversations
		switch {
		case *asJSON:
			write = writeDocument
		case *asReceipt:
			write = func(con *console, records []record) error { return writeReceipts(con, *dir, records) }
		}
		err = errors.Join(write(con, records), err)
	}
	return err
}

func writeConversations(con *console, records []record) error {
	p := page{out: con.stdout, width: lineWidth(os.Getenv("COLUMNS")), color: con.color}
	for i, r := range records {
		if i > 0 {
			fmt.Fprintf(con.stdout, "\n\n")
		}
		p.conversation(r.provider, r.snapshot)
	}
	return con.stdout.Flush() // an earlier error is sticky
}

// lineWidth returns the number of characters of a line; columns is what the shell says.
func lineWidth(columns string) int {
	const usual, least = 100, 40
	if n, err := strconv.Atoi(columns); err == nil {
		return max(n, least)
	}
	return usual
}

// writeDocument writes records as one document (SF "Complete Snapshot Structure").
func writeDocument(con *console, records []record) error {
	doc := snapshot.Document{Version: snapshot.Version}
	for _, r := range records {
		doc.Snapshots = append(doc.Snapshots, *r.snapshot)
	}
	if err := doc.Seal(); err != nil {
		return err
	}
	data, err := doc.Encode()
	if err != nil {
		return err
	}
	_, err = con.stdout.WriteString(printableText(string(data)))
	return err
}

// selectRecords returns the records that id means. It may return both records and an error,
// for what could not be read.
func selectRecords(dir, id string) ([]record, error) {
	if strings.HasSuffix(id, ".json") {
		if data, err := os.ReadFile(id); err == nil {
			return fileRecords(id, data)
		}
	}
	store, dir, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer store.Close()

	var exact, prefixed []snapshot.Entry
	for e, err := range store.All() {
		switch {
		case err != nil:
			return nil, err
		case e.ID == id || e.File == id:
			exact = append(exact, e)
		case strings.HasPrefix(e.ID, id):
			prefixed = append(prefixed, e)
		}
	}
	switch {
	case len(exact) > 0:
		return load(store, exact)
	case len(prefixed) == 1:
		return load(store, prefixed)
	case len(prefixed) > 1:
		return nil, ambiguous(id, prefixed)
	}
	records, err := testRecords(store, id)
	if len(records) == 0 && err == nil {
		err = fmt.Errorf("%s has no snapshot whose id begins with %q, nor one of a test of that name", dir, id)
	}
	return records, err
}

func fileRecords(file string, data []byte) ([]record, error) {
	doc, err := snapshot.Parse(data)
	if err != nil {
		var broken *snapshot.Error
		if errors.As(err, &broken) {
			broken.File = file
		}
		return nil, err
	}
	var records []record
	for i := range doc.Snapshots {
		records = append(records, record{providerOf(file), &doc.Snapshots[i]})
	}
	return records, nil
}

// providerOf returns the provider in whose directory of a store file is; empty: it is in no store.
func providerOf(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(abs)
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "manifest.json")); err != nil {
		return ""
	}
	return filepath.Base(dir)
}

func ambiguous(id string, entries []snapshot.Entry) error {
	const most = 20
	var b strings.Builder
	fmt.Fprintf(&b, "%d snapshots have ids that begin with %q:", len(entries), id)
	for i, e := range entries {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(entries)-i)
			break
		}
		b.WriteString("\n  " + e.ID)
	}
	return errors.New(b.String())
}
