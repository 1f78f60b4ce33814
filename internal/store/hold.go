package store

// Hold calls f while no other process writes to the store or verifies it, for those who change its files by other
// means, as git does. It makes the store if there is none. f must not call methods of s that write.
func (s *Store) Hold(f func() error) error {
	return s.Exclusively(func(Writer) error { return f() })
}
