package store

import "os"

// Sizes returns how long the file of the document is, and the raw answer of each of its calls, in bytes. A file that
// is missing or cannot be looked at has the size 0: verify reports it.
func (d *Doc) Sizes() (document int64, raw []int64) {
	size := func(file string) int64 {
		info, err := os.Stat(d.store.Path(file))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	raw = make([]int64, len(d.Document.Snapshots))
	for i := range d.Document.Snapshots {
		if record := &d.Document.Snapshots[i]; record.Response.RawOutputRef != "" {
			raw[i] = size(d.Beside(rawNeed(record, i).Own))
		}
	}
	return size(d.File()), raw
}
