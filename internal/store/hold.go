package store

// Hold calls f while no other process writes to the store or verifies it. It is for changes of its files by other
// means, as by git. It makes the store if there is none. f must not call methods of s that write.
func (s *Store) Hold(f func() error) error {
	return s.Exclusively(func(Writer) error { return f() })
}
