package codefix

import (
	"os/exec"
	"strings"
	"testing"
)

// No module that an interpreter brings along, private ones included, can be
// shadowed by a file that an agent makes, in capitals or not.
func TestLibraryNamesAreTaken(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(*sys.stdlib_module_names)").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	if len(names) < 200 {
		t.Fatalf("%d names", len(names))
	}
	for _, n := range append(names, "_strptime", "cProfile", "pygments") {
		for _, p := range []string{n + ".py", strings.ToUpper(n) + ".py", n + "/__init__.py", n + ".json"} {
			if bad := checkName(p, false); bad == nil {
				t.Errorf("%s may be written", p)
			}
		}
	}
	for _, n := range []string{"_helpers", "helpers", "_strptimes", "parts"} {
		if bad := checkName(n+".py", false); bad != nil {
			t.Errorf("%s: %v", n, bad)
		}
	}
}
