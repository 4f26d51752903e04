package proctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pythonOf is the Python that a page of docs shows.
func pythonOf(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, m := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1) {
		code.Write(m[1])
	}
	if code.Len() == 0 {
		t.Fatalf("docs/%s shows no Python", page)
	}
	return code.String()
}

// runPython runs code against a server of its own.
func runPython(t *testing.T, code string) string {
	t.Helper()
	url, stop := start(t, "--sandbox", sandboxNone)
	defer stop()
	cmd := exec.CommandContext(t.Context(), "python3", "-I", "-")
	cmd.Env = append(os.Environ(), "PROCTOR_URL="+url)
	cmd.Stdin = strings.NewReader(code)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The client that docs/python.md shows plays an episode as it stands there.
func TestPythonExample(t *testing.T) {
	out := runPython(t, pythonOf(t, "python.md")+`
for kind, size in ("react-mini", 3), ("codefix", 3), ("react-mini", 1):
    print(len(group(os.environ["PROCTOR_URL"], kind, lambda seen: "Action: finish[42]", size, split="train", index=0)))
`)
	want := `^\d+ messages, return (0|1)\.?0?
\[\{'content': '42', 'name': 'calculator', 'role': 'tool', 'tool_call_id': '1'\}\]
\[0, 0, 0, 0\]
3
3
1
$`
	if !regexp.MustCompile(want).MatchString(out) {
		t.Error(out)
	}
}

// The classes that docs/python-trainers.md shows play episodes as their trainers
// would: TRL's makes one and resets it often, its tools come from the model, and
// it asks for a reward whether the model has ended or not; SkyRL's is made for
// one episode. Where the server breaks, neither gives a zero.
func TestPythonForTrainers(t *testing.T) {
	out := runPython(t, `
import sys, types
base = types.ModuleType("skyrl_gym.envs.base_text_env")
class BaseTextEnv:
    def __init__(self):
        self.turns, self.max_turns = 0, 1
base.BaseTextEnv, base.BaseTextEnvStepOutput = BaseTextEnv, dict
for name in "skyrl_gym", "skyrl_gym.envs":
    sys.modules[name] = types.ModuleType(name)
sys.modules[base.__name__] = base
`+pythonOf(t, "python.md")+pythonOf(t, "python-trainers.md")+`
print("== TRL")
task = ProctorTask()
print(task.reset(index=3, prompt=[]).split("\n\n")[-1][:10])
print(task.act("Action: calculator[6 * 7]"), task.get_reward(), task.act("Action: finish[1]"))
task.reset(index=3)
print(task.act("Action: finish[nonsense]"), task.act("Action: finish[1]"), task.get_reward())
task.reset(index=3)
task._env.url = "http://127.0.0.1:1"
print(task.get_reward())

print("== SkyRL")
env = ProctorEnv(None, {"env_type": "react-mini", "index": 3})
messages, info = env.init([])
print(messages[-1]["role"], sorted(info["task"]))
print(env.step("Action: calculator[6 * 7]"))
print(env.step("Action: finish[nonsense]")["done"])
env.env.step = lambda action: {"reward": None}
try:
    env.step("Action: finish[1]")
except RuntimeError as e:
    print(e)
env.close()
`)
	_, out, _ = strings.Cut(out, "== TRL\n")
	want := `Question: 
42 0 The episode is over.
Done. The episode is over. 0
None
== SkyRL
user ['public', 'split', 'task_id', 'type']
{'observations': [{'content': 'Observation: 42', 'role': 'user'}], 'reward': 0, 'done': False, 'metadata': {}}
True
the environment failed; its reward is no zero
`
	if strings.TrimSpace(strings.TrimPrefix(out, "\n\n")) != strings.TrimSpace(want) {
		t.Errorf("got %s", out)
	}
}
