package snapshot

import (
	"errors"
	"fmt"
)

// Migrate returns data, a document of version from, as a document of version to. There is one
// version so far: from 1.0.0 to 1.0.0 it returns the bytes that [Document.Encode] writes. Any
// other version is [ErrVersion], with SF's wording where it is the document's: no format of it
// was ever specified, so nothing in it can be read without guessing, and the way out is to
// record again (SF "Migration Path", "Backward Compatibility").
func Migrate(data []byte, from, to string) ([]byte, error) {
	if to != Version {
		return nil, fmt.Errorf("migrate to %s: %w: the current version is %s", to, ErrVersion, Version)
	}
	doc, err := Parse(data)
	switch {
	case errors.Is(err, ErrVersion):
		return nil, err
	case from != Version:
		if err != nil {
			return nil, &Error{Violations: []Violation{{"", ruleVersion, rejection(from)}}, Err: err}
		}
		return nil, fmt.Errorf("migrate from %s: %w: the document is of version %s already", from, ErrVersion, Version)
	case err != nil:
		return nil, err
	}
	return doc.Encode()
}
