package archtest

// A rule says what the packages of one tree may import.
//
// A tree is a path below the module's root. Its segments may be "*", which
// stands for exactly one folder; "" is the root itself. The rule covers the
// folder and everything below it, and the longest matching tree wins. A
// package may always import the folder that matched its rule and what is below
// it, so "envs/*" lets envs/react import envs/react/bm25 but not envs/codefix.
type rule struct {
	tree string
	// ours lists packages of this module: "envs" is that package alone,
	// "server/..." that package and everything below it.
	ours []string
	// third lists module path prefixes outside the standard library.
	third []string
	// notStd lists packages of the standard library that the tree may not use.
	notStd []string
}

const (
	chi     = "github.com/go-chi/chi"
	parquet = "github.com/parquet-go/parquet-go"
	ws      = "github.com/gorilla/websocket"
	prom    = "github.com/prometheus/"
	openapi = "github.com/getkin/kin-openapi"
	oapi    = "github.com/oapi-codegen/"
	sqlite  = "github.com/ncruces/"
	gonum   = "gonum.org/v1/"
	xsys    = "golang.org/x/sys"
	xsync   = "golang.org/x/sync"
	xtext   = "golang.org/x/text"
	yaml    = "go.yaml.in/yaml/v3"
)

// rules is the table. Each line is a decision: adding a package means adding
// it here, or putting it below a tree that already says what it may know.
var rules = []rule{
	// The contract and its types know nobody.
	{tree: "", ours: nil},
	{tree: "api", third: []string{oapi}},
	{tree: "client", ours: []string{"api"}, third: []string{oapi, ws}},

	// Environments know the contract, never each other, a transport or the network.
	{tree: "envs", notStd: []string{"net", "net/http"}},
	{
		tree:   "envs/*",
		ours:   []string{"envs", "envs/reward", "envs/taskfile", "internal/sandbox", "internal/sandbox/...", "internal/seed"},
		third:  []string{yaml},
		notStd: []string{"net", "net/http"},
	},
	{
		tree:   "envs/react/answer",
		third:  []string{xtext}, // Unicode normal forms
		notStd: []string{"net", "net/http"},
	},
	{tree: "envs/reward", notStd: []string{"net", "net/http"}},
	{tree: "envs/taskfile", notStd: []string{"net", "net/http"}},
	{tree: "envs/envtest", ours: []string{"envs"}, notStd: []string{"net", "net/http"}},
	{tree: "envs/all", ours: []string{"envs/...", "internal/sandbox", "internal/sandbox/..."}, notStd: []string{"net", "net/http"}},

	// The server knows the contract but no concrete environment.
	{
		tree:  "server",
		ours:  []string{"", "api", "envs", "server/...", "internal/buildinfo"},
		third: []string{chi, ws, prom, openapi, oapi, sqlite, xsync, parquet},
	},
	{tree: "server/episode", ours: []string{"api", "envs"}, third: []string{xsync}},
	{tree: "server/store", ours: []string{"api", "envs"}, third: []string{sqlite}},

	// The trainer learns rewards over the wire only.
	{
		tree:  "trainer",
		ours:  []string{"api", "client", "trainer/...", "internal/buildinfo"},
		third: []string{gonum, prom, xsync, yaml},
	},
	{tree: "trainer/fastblas", third: []string{gonum, xsys}},
	{tree: "trainer/rl", third: []string{gonum}},
	{tree: "trainer/nn", ours: []string{"trainer/fastblas/..."}, third: []string{gonum}},
	{tree: "trainer/optim", ours: []string{"trainer/nn/...", "trainer/fastblas/..."}, third: []string{gonum}},
	{tree: "trainer/token"},
	{
		tree:  "trainer/policy",
		ours:  []string{"trainer/nn/...", "trainer/fastblas/...", "trainer/token", "trainer/optim"},
		third: []string{gonum},
	},
	{
		tree:  "trainer/algo",
		ours:  []string{"trainer/rl", "trainer/policy/...", "trainer/optim", "trainer/algo/..."},
		third: []string{gonum},
	},
	{
		tree:  "trainer/algo/*",
		ours:  []string{"trainer/rl", "trainer/policy", "trainer/optim", "trainer/algo"},
		third: []string{gonum},
	},
	{
		tree:  "trainer/rollout",
		ours:  []string{"api", "client", "trainer/rl", "trainer/policy/...", "trainer/token"},
		third: []string{gonum, xsync},
	},

	// Below the surface.
	{tree: "internal/archtest"},
	{tree: "internal/buildinfo"},
	{tree: "internal/ordinary"},
	{tree: "internal/seed"},
	{tree: "internal/sandbox", third: []string{xsys, "github.com/elastic/go-seccomp-bpf/arch"}},
	{
		tree:  "internal/e2e",
		ours:  []string{"api", "client", "envs/...", "server/...", "trainer/...", "web", "internal/..."},
		third: []string{prom, ws},
	},

	// The commands wire things together; their mains only call them.
	{
		tree: "internal/cli/proctor",
		ours: []string{
			"api", "client", "envs", "envs/...", "server/...", "web",
			"internal/sandbox", "internal/sandbox/...", "internal/buildinfo", "internal/seed",
		},
		third: []string{prom, xsync},
	},
	{
		tree:  "internal/cli/trainer",
		ours:  []string{"api", "client", "trainer/...", "internal/buildinfo"},
		third: []string{prom, gonum, xsync, yaml},
	},
	{tree: "internal/cli"},
	{tree: "cmd/proctor", ours: []string{"internal/cli", "internal/cli/proctor"}},
	{tree: "cmd/trainer", ours: []string{"internal/cli", "internal/cli/trainer"}},

	// What is looked at and what is deployed are files.
	{tree: "web"},
	{tree: "deploy", ours: []string{"envs/...", "server/...", "trainer/...", "internal/..."}},
	{tree: "tools"},
	{tree: "tools/asmgen", third: []string{"github.com/mmcloughlin/avo"}}, // a module of its own
}

// trainerRoots are the trees whose programs must not be able to see a hidden
// test, and graders the trees that hold them.
var (
	trainerRoots = []string{"trainer", "cmd/trainer", "internal/cli/trainer"}
	graders      = []string{"envs", "server", "internal/sandbox", "internal/cli/proctor", "cmd/proctor"}
)
