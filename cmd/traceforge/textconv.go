package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/snapshot"
)

func gitCommand(con *console) *cobra.Command {
	return group("git", "programs that git calls (see init --git)", textconvCommand(con))
}

func textconvCommand(con *console) *cobra.Command {
	return &cobra.Command{
		Use:   "textconv FILE",
		Short: "show a document for git diff (see init --git)",
		Long: `Prints the conversation in a document as show does, without breaking lines, so that git
compares them as they were written. What is no document is printed as it is.
`,
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			doc, err := snapshot.Parse(data)
			if err != nil { // git shows nothing at all where this program fails
				_, err := con.stdout.Write(data)
				return err
			}
			p := page.Page{Out: con.stdout, Width: lineWidth(""), Unwrapped: true}
			p.Document(providerOf(args[0]), doc)
			return con.stdout.Flush() // an earlier error is sticky
		},
	}
}
