package audit

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// VerifyFiles is [Verify] for the documents that files belong to. The files are paths in the store: of documents, raw
// answers, media and strays. It opens no other documents, and not the manifest. Missing files, for example those that a
// branch removed, are not findings by themselves.
func VerifyFiles(s *store.Store, files []string, checks ...store.Check) (*Result, error) {
	return verified(s, checks, func(v *verifier) {
		v.list(files)
		v.lookAtAll()
		v.texts()
	})
}

// list is walk for the given files.
func (v *verifier) list(files []string) {
	providers, err := v.store.Providers()
	v.fail(err)
	providers = slices.DeleteFunc(providers, v.isNoDirectory)
	names := map[string]bool{}
	for _, file := range append(slices.Clone(files), store.JournalName) {
		if strings.HasPrefix(file, store.PendingName+"/") {
			continue // not part of the recording
		}
		if first, _, _ := strings.Cut(file, "/"); slices.Contains(repositoryNames, first) {
			if _, err := os.Lstat(v.store.Path(first)); err == nil {
				v.stray(first, isOfRepository)
			}
			continue
		}
		if name := nameIn(file); name != "" {
			names[name] = true
			continue
		}
		info, err := os.Lstat(v.store.Path(file))
		if err == nil && info.IsDir() && filename.LegalDocument(path.Base(file)) { // git lists no other directories
			v.stray(path.Clean(file), isSubmodule)
			continue
		}
		v.listOther(file)
	}
	for name := range names {
		for _, provider := range providers {
			v.listNamed(provider, name)
		}
	}
	v.duplicates()
}

// isNoDirectory reports a link or a file in place of a directory, and does not look inside.
func (v *verifier) isNoDirectory(dir string) bool {
	info, err := os.Lstat(v.store.Path(dir))
	if err != nil || info.IsDir() {
		return false
	}
	v.stray(dir, strayMessage(fs.FileInfoToDirEntry(info)))
	return true
}

// listOther reports a file that does not belong in a store.
func (v *verifier) listOther(file string) {
	info, err := os.Lstat(v.store.Path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		v.fail(err)
	case file == store.JournalName:
		v.report(file, snapshot.Violation{Rule: snapshot.RulePending, Message: cutShort})
	case info.Mode().IsRegular() && slices.Contains(
		[]string{store.AttributesName, store.IgnoreName, store.ConfigName, store.ManifestName, store.HolderName}, file):
	default:
		v.stray(file, strayMessage(fs.FileInfoToDirEntry(info)))
	}
}

// listNamed adds the document with a name under a provider, or the files that are left of it.
func (v *verifier) listNamed(provider, name string) {
	file, dir := store.DocumentFile(provider, name), provider+"/"+name
	info, err := os.Lstat(v.store.Path(file))
	linked := v.isNoDirectory(dir)
	switch {
	case err == nil && info.Mode().IsRegular():
		v.listed = append(v.listed, listedDocument{provider: provider, name: name, hasDir: !linked})
		return
	case err == nil:
		v.stray(file, strayMessage(fs.FileInfoToDirEntry(info)))
	case !errors.Is(err, fs.ErrNotExist):
		v.fail(err)
	}
	if !linked {
		v.abandoned(provider, name)
	}
}
