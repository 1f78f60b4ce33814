package store

import (
	"cmp"
	"maps"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Put returns the put of a document with the files next to it, without the records with some numbers.
func (d *Doc) Put(without map[int]bool) (put Put, err error) {
	var left []snapshot.Snapshot
	beside := map[canon.Hash][]byte{}
	for i, s := range d.Records() {
		if without[s.Number()] {
			continue
		}
		if err := d.FetchAll(i, beside); err != nil {
			return put, err
		}
		left = append(left, s)
	}
	put = PutOf(d.Name, left)
	put.Provider, put.Beside = cmp.Or(put.Provider, d.Provider), beside
	return put, nil
}

// FetchAll reads the files that the i-th record names.
func (d *Doc) FetchAll(i int, beside map[canon.Hash][]byte) error {
	for _, need := range needsOf(&d.Document.Snapshots[i], i) {
		data, err := d.Fetch(need)
		if err != nil {
			return err
		}
		beside[need.Hash] = data
	}
	return nil
}

// with returns the put with the records of both, for one test.
func (p Put) with(other Put) Put {
	put := PutOf(p.Name, slices.Concat(recordsIn(p.Provider, p.Document), recordsIn(other.Provider, other.Document)))
	put.Provider, put.Beside = cmp.Or(put.Provider, p.Provider), maps.Clone(p.Beside)
	maps.Copy(put.Beside, other.Beside)
	return put
}

// Records returns the records of a document, each with its provider.
func (d *Doc) Records() []snapshot.Snapshot { return recordsIn(d.Provider, d.Document) }

func recordsIn(provider string, d *snapshot.Document) []snapshot.Snapshot {
	records := slices.Clone(d.Snapshots)
	for i := range records {
		records[i].Provider = cmp.Or(records[i].Provider, provider)
	}
	return records
}

// PutOf returns the put of a document with the given records, in the directory of the provider that the first record
// names.
func PutOf(name string, records []snapshot.Snapshot) Put {
	provider := ""
	if len(records) > 0 {
		provider = records[0].Provider
	}
	for i := range records {
		if records[i].Provider == provider {
			records[i].Provider = ""
		}
	}
	return Put{Provider: provider, Name: name, Document: &snapshot.Document{Version: snapshot.Version, Snapshots: records}}
}
