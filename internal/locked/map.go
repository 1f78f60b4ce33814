// Package locked is a map that goroutines share. It is typed, and unlike sync.Map it does not compile a trie into each
// package that uses one.
package locked

import (
	"maps"
	"sync"
)

// A Map is a map that is safe for concurrent use. The zero Map is empty.
type Map[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Get returns the value of a key, and whether there is one.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok = m.values[key]
	return value, ok
}

// Add gives a key a value if it has none. It returns the value that the key has now, and whether it had one before.
func (m *Map[K, V]) Add(key K, value V) (now V, had bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now, had = m.values[key]; had {
		return now, true
	}
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = value
	return value, false
}

// Set gives a key a value, in place of any that it has.
func (m *Map[K, V]) Set(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = value
}

// Delete removes a key.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}

// All returns a copy of the map.
func (m *Map[K, V]) All() map[K]V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values)
}
