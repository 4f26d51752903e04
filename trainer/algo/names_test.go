package algo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer/algo"
)

// Each name makes the algorithm of that name, whose settings are those that
// Validate looks at: a line that is incomplete must not train something else.
func TestNamesMakeWhatTheySay(t *testing.T) {
	made := map[string]bool{}
	for _, name := range algo.Names() {
		c := algo.Default()
		c.Name = name
		p := newTable(2)
		a, err := algo.New(c, p, nil, stepper(p, 1), 1, 8)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kind := strings.ToLower(fmt.Sprintf("%T", a))
		if !strings.Contains(kind, name+".") || made[kind] {
			t.Errorf("%s makes a %s", name, kind)
		}
		made[kind] = true
	}
	c := algo.Default()
	c.Name = "none such"
	if _, err := algo.New(c, newTable(2), nil, nil, 1, 8); err == nil || !strings.Contains(err.Error(), "have [grpo") {
		t.Errorf("an unknown name: %v", err)
	}
}
