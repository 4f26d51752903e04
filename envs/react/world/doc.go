// Package world invents small worlds: countries, towns, persons, firms, rivers
// and books with made-up names, the relations between them and their numbers;
// renders them as searchable documents; and asks questions about them whose
// answers it knows.
//
// Everything is a pure function of a seed. Names belong to splits by their
// hash, so no name of one split ever occurs in another. Some compositions of
// relations are kept out of training on purpose (see Slice). The package knows
// nothing of episodes and tools; package react calls it.
package world
