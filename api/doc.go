// Package api holds the types of the wire contract, generated from
// openapi.yaml at the root of the project, and a few constructors for them.
//
// It has no behaviour, opens no connection and imports nothing of ours. The
// server and the client both speak through it, so that neither owns the words.
// Run "go generate ./api" after an edit of openapi.yaml; it also regenerates
// the server's and the client's sides.
package api

//go:generate go tool -modfile=../tools/go.mod oapi-codegen -config types.cfg.yaml ../openapi.yaml
//go:generate go tool -modfile=../tools/go.mod oapi-codegen -config ../server/internal/oapi/server.cfg.yaml ../openapi.yaml
//go:generate go tool -modfile=../tools/go.mod oapi-codegen -config ../client/internal/oapi/client.cfg.yaml ../openapi.yaml
