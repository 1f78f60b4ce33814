// Package inorder sorts, and keeps lists in which each item stands once. The functions of package slices that sort are compiled for each type, in each package that has
// it: they were a tenth of all that a test binary had to compile. These are compiled once, and are for what is short.
package inorder

import (
	"slices"
	"sort"
)

// Names returns the keys of maps, sorted, each once.
func Names[V any](maps ...map[string]V) []string {
	names := make([]string, 0, len(maps[0]))
	for _, m := range maps {
		for name := range m {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return slices.Compact(names)
}

// Strings returns all, sorted, and leaves all as it is.
func Strings(all []string) []string {
	all = slices.Clone(all)
	sort.Strings(all)
	return all
}

// By sorts all, and leaves those that compare as equal in their order.
func By[T any](all []T, compare func(a, b T) int) {
	sort.SliceStable(all, func(i, j int) bool { return compare(all[i], all[j]) < 0 })
}

// With returns a list with an item, at its end where the list did not have it.
func With[T comparable](list []T, item T) []T {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}
