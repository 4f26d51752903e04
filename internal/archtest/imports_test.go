package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestImportRules(t *testing.T) {
	for _, v := range checkImports(load(t).packages, rules) {
		t.Error(v)
	}
}

// The rules would be worth nothing if the check let things pass, so it is
// given one violation of each kind.
func TestImportRulesCatchWhatTheyForbid(t *testing.T) {
	for _, tc := range []struct {
		name, pkg, imports, want string
	}{
		{"no rule", "foo", "", "no import rule covers"},
		{"no rule below internal", "internal/other", "", "no import rule covers"},
		{"env imports env", "envs/react", module + "/envs/codefix", "may not import"},
		{"env imports env's part", "envs/react/world", module + "/envs/codefix/py", "may not import"},
		{"trainer imports env", "trainer/rollout", module + "/envs", "may not import"},
		{"algorithm imports algorithm", "trainer/algo/ppo", module + "/trainer/algo/grpo", "may not import"},
		{"server imports env", "server/episode", module + "/envs/react", "may not import"},
		{"main imports server", "cmd/proctor", module + "/server", "may not import"},
		{"third party in contract", "envs", "gonum.org/v1/gonum/stat", "may not import"},
		{"network in env", "envs/react", "net/http", "may not import"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := checkImports([]pkg{{path: tc.pkg, imports: []string{tc.imports}}}, rules)
			if len(got) != 1 || !strings.Contains(got[0], tc.want) {
				t.Errorf("checkImports(%s importing %s) = %q, want one line with %q", tc.pkg, tc.imports, got, tc.want)
			}
		})
	}
	allowed := []pkg{
		{path: "envs/react", imports: []string{module + "/envs", module + "/envs/react/bm25", "strings"}},
		{path: "trainer/nn", imports: []string{"gonum.org/v1/gonum/blas/blas32"}},
	}
	if got := checkImports(allowed, rules); len(got) != 0 {
		t.Errorf("checkImports refused what the rules allow: %q", got)
	}
}

// A rollout that could read the grader could also read its answer: the
// trainer's programs must not even link one.
func TestTrainerCannotReachAGrader(t *testing.T) {
	pkgs := load(t).packages
	if got := reach(pkgs, trainerRoots, graders); got != "" {
		t.Error(got)
	}
	planted := append(slices.Clone(pkgs),
		pkg{path: "trainer", imports: []string{module + "/api/extra"}},
		pkg{path: "api/extra", imports: []string{module + "/internal/sandbox"}})
	if got := reach(planted, trainerRoots, graders); got == "" {
		t.Error("a grader reached through a third package went unnoticed")
	}
}

func checkImports(pkgs []pkg, rules []rule) []string {
	var out []string
	for _, p := range pkgs {
		r, home, ok := ruleFor(rules, p.path)
		if !ok {
			out = append(out, fmt.Sprintf("%s: no import rule covers this package: add it to rules_test.go", p.path))
			continue
		}
		for _, imp := range p.imports {
			if !r.allows(home, imp) {
				out = append(out, fmt.Sprintf("%s may not import %s: its tree %q may import of ours %v, of others %v, and of the standard library not %v",
					p.path, imp, r.tree, r.ours, r.third, r.notStd))
			}
		}
	}
	return out
}

// ruleFor returns the longest rule that covers path and the folder that it matched.
func ruleFor(rules []rule, path string) (best rule, home string, ok bool) {
	bestLen := -1
	segs := split(path)
	for _, r := range rules {
		tree := split(r.tree)
		// The root's rule covers the root package only, or nothing would ever be uncovered.
		if len(tree) > len(segs) || len(tree) == 0 && len(segs) > 0 || len(tree) < bestLen {
			continue
		}
		match := true
		for i, s := range tree {
			match = match && (s == "*" || s == segs[i])
		}
		// At equal length a name beats a star.
		if match && (len(tree) > bestLen || !strings.HasSuffix(r.tree, "*")) {
			best, home, ok, bestLen = r, strings.Join(segs[:len(tree)], "/"), true, len(tree)
		}
	}
	return best, home, ok
}

func (r rule) allows(home, imp string) bool {
	if own, ok := strings.CutPrefix(imp, module); ok {
		own = strings.TrimPrefix(own, "/")
		if below(own, home) {
			// A bare "envs" or "trainer" rule must not open every folder below it.
			return home != "envs" || own == "envs"
		}
		for _, o := range r.ours {
			if tree, wild := strings.CutSuffix(o, "/..."); wild && below(own, tree) || own == o {
				return true
			}
		}
		return false
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") { // the standard library
		return !slices.Contains(r.notStd, imp)
	}
	return slices.ContainsFunc(r.third, func(p string) bool { return strings.HasPrefix(imp, p) })
}

// reach follows imports from the packages below roots and describes the first
// way it finds into one below targets.
func reach(pkgs []pkg, roots, targets []string) string {
	imports := map[string][]string{}
	for _, p := range pkgs {
		imports[p.path] = append(imports[p.path], p.imports...)
	}
	in := func(path string, trees []string) bool {
		return slices.ContainsFunc(trees, func(t string) bool { return below(path, t) })
	}
	var walk func(path string, trail []string, seen map[string]bool) string
	walk = func(path string, trail []string, seen map[string]bool) string {
		trail = append(trail, path)
		if in(path, targets) {
			return "the trainer reaches a grader: " + strings.Join(trail, " -> ")
		}
		if seen[path] {
			return ""
		}
		seen[path] = true
		for _, imp := range imports[path] {
			if own, ok := strings.CutPrefix(imp, module+"/"); ok {
				if found := walk(own, trail, seen); found != "" {
					return found
				}
			}
		}
		return ""
	}
	seen := map[string]bool{}
	for _, p := range pkgs {
		if in(p.path, roots) {
			if found := walk(p.path, nil, seen); found != "" {
				return found
			}
		}
	}
	return ""
}

func below(path, tree string) bool {
	return path == tree || strings.HasPrefix(path, tree+"/")
}

func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
