// Package buildinfo says which build is running, from what the Go toolchain
// records in a binary. Both commands and the server print it; it decides
// nothing.
package buildinfo

import "runtime/debug"

// Info identifies a build.
type Info struct {
	Version   string `json:"version"`            // module version, "dev" where there is none
	Revision  string `json:"revision,omitempty"` // commit, with "+dirty" where the tree had changes; empty if not recorded
	GoVersion string `json:"go_version"`
}

// String is the build in one line.
func (i Info) String() string {
	s := i.Version
	if i.Revision != "" {
		s += " (" + i.Revision + ")"
	}
	return s + " " + i.GoVersion
}

// Read is the running build.
func Read() Info {
	out := Info{Version: "dev"}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	out.GoVersion = b.GoVersion
	if v := b.Main.Version; v != "" && v != "(devel)" {
		out.Version = v
	}
	dirty := false
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			out.Revision = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && out.Revision != "" {
		out.Revision += "+dirty"
	}
	return out
}
