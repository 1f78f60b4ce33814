package main

import (
	"errors"
	"os"
	osexec "os/exec"
	"runtime"

	tea "charm.land/bubbletea/v2"

	"github.com/traceforge/traceforge-go/internal/page"
)

// browse opens what differs of the chosen kind as a page in a browser.
func (s *screen) browse() tea.Cmd {
	src := s.groups[s.at].tests[0].source
	file, err := s.writePage(src)
	if err != nil {
		s.note = err.Error()
		return nil
	}
	s.note = "the page is " + file
	browser := browsing(os.Getenv("BROWSER"), file)
	if err := browser.Start(); err != nil {
		s.note += ", which nothing could open: " + err.Error()
		return nil
	}
	return func() tea.Msg {
		_ = browser.Wait() // it has said what it has to say
		return nil
	}
}

// writePage writes the page, which stays for the browser, and returns its file.
func (s *screen) writePage(src *source) (string, error) {
	found, err := s.compare(src, true)
	if err != nil {
		return "", err
	}
	about := page.About{Command: "traceforge review", From: "the store", To: "pending answers"}
	if src.kind == changedKind {
		about.From, about.To = "what git has staged", "the store"
	}
	f, err := os.CreateTemp("", "traceforge-review-*.html")
	if err != nil {
		return "", err
	}
	return f.Name(), errors.Join(found.HTML(f, about), f.Close())
}

// browsing returns the command that opens a file in a browser: that of the variable BROWSER, or the system's opener.
func browsing(browser, file string) *osexec.Cmd {
	switch {
	case browser != "":
		return editing(browser, file)
	case runtime.GOOS == "windows":
		return osexec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	case runtime.GOOS == "darwin":
		return osexec.Command("open", file)
	}
	return osexec.Command("xdg-open", file)
}
