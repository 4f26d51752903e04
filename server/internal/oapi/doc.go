// Package oapi is the generated side of the server: routing, parameter
// decoding and the contract document itself. Nothing in it is written by hand;
// package server calls it. "go generate ./api" makes it anew.
package oapi
