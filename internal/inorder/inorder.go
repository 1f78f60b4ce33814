// Package inorder sorts short lists, edits lists, and keeps lists without duplicates. The sort functions of package
// slices are compiled for each type in each package that uses them, which was a tenth of everything that a test binary
// had to compile. The functions of this package are compiled once.
package inorder

import (
	"slices"
	"sort"
)

// Names returns the keys of maps, sorted and without duplicates.
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

// Strings returns a sorted copy of all.
func Strings(all []string) []string {
	all = slices.Clone(all)
	sort.Strings(all)
	return all
}

// By sorts all and keeps the order of equal elements.
func By[T any](all []T, compare func(a, b T) int) {
	sort.SliceStable(all, func(i, j int) bool { return compare(all[i], all[j]) < 0 })
}

// With appends the items that the list does not contain, each once.
func With[T comparable](list []T, items ...T) []T {
	for _, item := range items {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// Edit calls edit with a copy of each element of a list. If edit reports changes, Edit replaces the list by one with
// the edited copies, and reports true.
func Edit[T any](list *[]T, edit func(*T) bool) (edited bool) {
	if len(*list) == 0 {
		return false // avoids allocating an element
	}
	var one T
	for i := range *list {
		one = (*list)[i]
		if !edit(&one) {
			continue
		}
		if !edited {
			*list, edited = slices.Clone(*list), true
		}
		(*list)[i] = one
	}
	return edited
}
