// Package oapi is the generated side of the client: one method per operation
// that builds and sends a request. Nothing in it is written by hand; package
// client calls it. "go generate ./api" makes it anew.
package oapi
