package audit

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// VerifyFiles is [Verify] for the documents that files belong to. The files are paths in the store: of documents, raw
// answers, media and strays. It opens no other documents, and not the manifest. Missing files, for example those that a
// branch removed, are not findings by themselves.
func VerifyFiles(s *store.Store, files []string, checks ...store.Check) (*Result, error) {
	return verified(s, checks, func(v *verifier) error {
		if err := v.list(files); err != nil {
			return err
		}
		if err := v.lookAtAll(); err != nil {
			return err
		}
		return v.texts()
	})
}

// list is walk for the given files.
func (v *verifier) list(files []string) error {
	providers, err := v.store.Providers()
	if err != nil {
		return err
	}
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
		if err := v.listOther(file); err != nil {
			return err
		}
	}
	for name := range names {
		for _, provider := range providers {
			if err := v.listNamed(provider, name); err != nil {
				return err
			}
		}
	}
	v.duplicates()
	return nil
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
func (v *verifier) listOther(file string) error {
	info, err := os.Lstat(v.store.Path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case file == store.JournalName:
		v.report(file, snapshot.Violation{Rule: snapshot.RulePending, Message: cutShort})
	case info.Mode().IsRegular() && slices.Contains([]string{store.AttributesName, store.IgnoreName, store.ConfigName, store.ManifestName, store.HolderName}, file):
	default:
		v.stray(file, strayMessage(fs.FileInfoToDirEntry(info)))
	}
	return nil
}

// listNamed adds the document with a name under a provider, or the files that are left of it.
func (v *verifier) listNamed(provider, name string) error {
	file, dir := store.DocumentFile(provider, name), provider+"/"+name
	info, err := os.Lstat(v.store.Path(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	linked := v.isNoDirectory(dir)
	switch {
	case err == nil && info.Mode().IsRegular():
		v.listed = append(v.listed, listedDocument{provider: provider, name: name, hasDir: !linked})
		return nil
	case err == nil:
		v.stray(file, strayMessage(fs.FileInfoToDirEntry(info)))
	}
	if linked {
		return nil
	}
	return v.abandoned(provider, name)
}
