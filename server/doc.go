// Package server puts environments on the wire: REST by the generated strict
// routes of openapi.yaml, WebSocket frames with the same answers, and the
// operational endpoints.
//
// Handlers translate and nothing more: what may happen to an env is decided by
// package episode, what is kept by package store. Every refusal leaves as
// application/problem+json, and the text of an internal error never leaves at
// all. It knows no concrete environment; internal/cli/proctor wires it up.
package server
