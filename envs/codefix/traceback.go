package codefix

import (
	"regexp"
	"strings"
)

var (
	blockHead    = regexp.MustCompile(`^={3,} (FAILURES|ERRORS) ={3,}$`)
	anyHead      = regexp.MustCompile(`^={3,} .* ={3,}$`)
	testHead     = regexp.MustCompile(`^_{3,} .* _{3,}$`)
	capturedHead = regexp.MustCompile(`^-{3,} Captured .* -{3,}$`)
	location     = regexp.MustCompile(`^([A-Za-z0-9_./-]+\.py):\d+: `)
)

// withoutSource takes the lines of source out of a test run's tracebacks, bar
// those of visible tests. What the code printed and what it raised stays;
// where it stands can be read in the files. A phrase in the agent's source is
// then in an observation only if the code really said it.
func withoutSource(out string) string {
	var b strings.Builder
	block, captured, inTest := false, false, false
	for line := range strings.SplitSeq(out, "\n") {
		bare := strings.TrimRight(line, "\r ")
		switch {
		case blockHead.MatchString(bare):
			block, captured = true, false
		case anyHead.MatchString(bare):
			block, captured = false, false
		case block && testHead.MatchString(bare):
			captured, inTest = false, false
		case block && capturedHead.MatchString(bare):
			captured = true
		case block && !captured:
			m := location.FindStringSubmatch(line)
			fromTest := inTest
			inTest = m != nil && isVisibleTest(m[1])
			if m == nil && !strings.HasPrefix(line, "E ") && !(fromTest && strings.HasPrefix(line, "    ")) {
				continue
			}
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
