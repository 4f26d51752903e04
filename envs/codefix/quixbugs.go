package codefix

import (
	_ "embed" // the programs
	"fmt"
	"sync"
)

// QuixBugsName is the environment type of the 40 programs of QuixBugs, a set
// of defects that is not ours. See data/quixbugs for where they come from and
// on what terms.
const QuixBugsName = "codefix-quixbugs"

// quixbugsFile is made by data/quixbugs/make.py.
//
//go:embed data/quixbugs.json.gz
var quixbugsFile []byte

var quixbugs = sync.OnceValues(func() (Source, error) { return readBank(quixbugsFile) })

// NewQuixBugs makes the type of the external test set: every program is a task
// of the test split, to be measured on and never trained on.
func NewQuixBugs(o Options) (*Type, error) {
	s, err := quixbugs()
	if err != nil {
		return nil, fmt.Errorf("codefix: %w", err)
	}
	o.Source = s
	o.Identity = Identity{QuixBugsName, version, "Repair the one-line defects of QuixBugs, 40 classic algorithms: an external test set, judged by regenerated hidden cases."}
	return New(o)
}
