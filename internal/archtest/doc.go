// Package archtest holds the rules of the repository that a compiler does not
// check: which package may import which, that every package says what it is
// for, and that no committed file names a place it has no business knowing.
//
// It has no code of its own, only tests, and nothing imports it. The tests
// read every file themselves: a test that asks "go list" for the imports is
// answered from the test cache when only an import has changed.
package archtest
