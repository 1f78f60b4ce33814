package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func showCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "show recorded conversations",
		Long: `Shows what was sent to a model and what it answered. ID is the name of a document or the
beginning of one name, the path of a file, or the name of a test, which shows all of its
calls and those of its subtests in order: as one conversation, each turn once. The id of a
record shows that call, whole.

ID may also be a hash, as of a receipt or a pack: then what has that hash is printed, be
it a record, a request, an answer, or the bytes of a raw answer or of media.

Characters that could drive the terminal or hide text are shown as JSON escapes. There is
colour where standard output is a terminal and NO_COLOR is not set. Lines are as wide as
COLUMNS says, else 100 characters.

The object of --json has: snapshots, the records in the literal form that --sf prints,
each with prompt_hash and response_hash besides.
`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeDocuments,
	}
	dir := dirFlag(c)
	asJSON := jsonFlag(c)
	asSF := c.Flags().Bool("sf", false, "print records in the format's literal form: whole requests, texts joined")
	asReceipt := c.Flags().Bool("receipt", false, "print params, receipt and envelope of the call contract, a line each")
	c.MarkFlagsMutuallyExclusive("json", "sf", "receipt")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if hash := canon.Hash(args[0]); hash.Valid() {
			return showHash(con, *dir, hash, *asSF)
		}
		chosen, err := selectCalls(*dir, args[0])
		if len(chosen) == 0 {
			return err
		}
		write := writeConversations
		switch {
		case *asJSON:
			write = writeJSON
		case *asSF:
			write = writeSF
		case *asReceipt:
			write = writeReceipts
		}
		return errors.Join(write(con, chosen), err)
	}
	return c
}

// A selection is a document, or one call of it.
type selection struct {
	provider string
	doc      *snapshot.Document
	stored   *store.Doc // nil: it is in no store
	call     int        // index of the call; -1: all of them
}

// calls returns the calls that are selected, by their indexes.
func (s *selection) calls() iter.Seq2[int, *snapshot.Snapshot] {
	return func(yield func(int, *snapshot.Snapshot) bool) {
		for i := range s.doc.Snapshots {
			if (s.call < 0 || s.call == i) && !yield(i, &s.doc.Snapshots[i]) {
				return
			}
		}
	}
}

func writeConversations(con *console, chosen []selection) error {
	p := page.Page{Out: con.stdout, Width: lineWidth(os.Getenv("COLUMNS")), Color: con.color}
	for i, s := range chosen {
		if i > 0 {
			fmt.Fprintf(con.stdout, "\n\n")
		}
		if s.call >= 0 {
			p.Call(s.provider, &s.doc.Snapshots[s.call])
		} else {
			p.Document(s.provider, s.doc)
		}
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

// selectCalls returns what id means. It may return both documents and an error, for what could not
// be read.
func selectCalls(dir, id string) ([]selection, error) {
	if strings.HasSuffix(id, ".json") {
		if data, err := os.ReadFile(id); err == nil {
			return fileCalls(id, data)
		}
	}
	s, dir, err := place.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	files, err := s.List()
	if err != nil {
		return nil, err
	}
	var prefixed []string
	document, n, _ := snapshot.ParseID(id)
	for _, file := range files {
		switch name := strings.TrimSuffix(path.Base(file), ".json"); {
		case name == id || file == id:
			return load(s, file)
		case name == document:
			return loadCall(s, file, n)
		case strings.HasPrefix(name, id):
			prefixed = append(prefixed, file)
		}
	}
	switch {
	case len(prefixed) == 1:
		return load(s, prefixed[0])
	case len(prefixed) > 1:
		return nil, ambiguous(id, prefixed)
	}
	docs, err := place.OfTest(s, id)
	if len(docs) == 0 && err == nil {
		err = fmt.Errorf("%s has no document whose name begins with %q, nor one of a test of that name", dir, id)
	}
	var chosen []selection
	for _, doc := range docs {
		chosen = append(chosen, selection{doc.Provider, doc.Document, doc, -1})
	}
	return chosen, err
}

func load(s *store.Store, file string) ([]selection, error) {
	doc, err := place.Load(s, file)
	if err != nil {
		return nil, err
	}
	return []selection{{doc.Provider, doc.Document, doc, -1}}, nil
}

func loadCall(s *store.Store, file string, n int) ([]selection, error) {
	chosen, err := load(s, file)
	if err != nil {
		return nil, err
	}
	calls := chosen[0].doc.Snapshots
	chosen[0].call = slices.IndexFunc(calls, func(s snapshot.Snapshot) bool { return s.Number() == n })
	if chosen[0].call < 0 {
		return nil, fmt.Errorf("%s has no call %d", file, n)
	}
	return chosen, nil
}

func fileCalls(file string, data []byte) ([]selection, error) {
	doc, err := snapshot.Parse(data)
	if err != nil {
		var broken *snapshot.Error
		if errors.As(err, &broken) {
			broken.File = file
		}
		return nil, err
	}
	return []selection{{providerOf(file), doc, nil, -1}}, nil
}

// providerOf returns the provider in whose directory of a store file is; empty: it is in no store.
func providerOf(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(abs)
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), ".gitattributes")); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return filepath.Base(dir)
}

func ambiguous(id string, files []string) error {
	const most = 20
	var b strings.Builder
	fmt.Fprintf(&b, "%d documents have names that begin with %q:", len(files), id)
	for i, file := range files {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(files)-i)
			break
		}
		b.WriteString("\n  " + strings.TrimSuffix(path.Base(file), ".json"))
	}
	return errors.New(b.String())
}

// completeDocuments completes the names of documents in a shell.
func completeDocuments(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, _, err := place.OpenStore(c.Flag("dir").Value.String())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	files, err := s.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), ".json")
	}
	return files, cobra.ShellCompDirectiveDefault
}
