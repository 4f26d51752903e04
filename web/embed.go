// Package web holds the page that shows training curves, episodes and the
// catalogue of environment types, and on which a person plays them, as files
// inside the binary.
//
// It has no logic beyond the file system: the page is plain HTML, CSS and
// JavaScript modules that the browser runs as they are written here, so there
// is no bundle and nothing to build. The page talks to the same HTTP API as
// every other client. internal/cli/proctor hands FS to the server, which
// serves it at "/".
package web

import (
	"embed"
	"io/fs"
)

//go:embed static
var files embed.FS

// FS is the page's files, with index.html at the root. It is read-only and
// safe for concurrent use.
func FS() fs.FS {
	sub, err := fs.Sub(files, "static")
	if err != nil {
		// The path is a constant that the embed directive above has checked.
		panic("web: " + err.Error())
	}
	return sub
}
