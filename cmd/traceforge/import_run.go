package main

import (
	"cmp"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// runTests runs the tests below the directory. A call that has no record gets its answer from the recordings, so that no file
// needs to name its test.
func (im *recordings) runTests() error {
	if err := im.walk(); err != nil {
		return err
	}
	var library cassette.Library
	err := im.each(func(r candidate, rec *cassette.Recording, _ []cassette.Lost) error {
		dir, err := filepath.Rel(im.root, cmp.Or(r.dir, im.root))
		library.Add(r.file, path.Join(im.module, filepath.ToSlash(dir)), rec)
		return err
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go http.Serve(listener, &library)
	os.Setenv(recorder.RecordingsEnv, "http://"+listener.Addr().String())
	below := filepath.ToSlash(im.args[0]) + "/..."
	if filepath.IsLocal(im.args[0]) {
		below = "./" + path.Clean(below)
	}
	err = record(im.call, "new", []string{below}, "")
	left := library.Unasked()
	for _, u := range im.Unplaced {
		left = append(left, u.From+": "+u.Why)
	}
	im.sayAll(left)
	im.say("of %s %d are left over", page.Count(im.Files, "recording", "recordings"), len(left))
	if err == nil && len(left) > 0 {
		return exit{code: exitFindings}
	}
	return err
}
