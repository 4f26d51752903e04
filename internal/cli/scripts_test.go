package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/internal/cli"
	"github.com/proctor-rl/proctor/internal/cli/proctor"
	"github.com/proctor-rl/proctor/internal/cli/trainer"
)

// TestMain makes this test program both commands: the scripts run it again
// under their names.
func TestMain(m *testing.M) {
	testscript.Main(leakFree{m}, map[string]func(){
		"proctor": func() { cli.Run(proctor.Main) },
		"trainer": func() { cli.Run(trainer.Main) },
	})
}

// leakFree are tests that leave no goroutine behind.
type leakFree struct{ m *testing.M }

// Run implements testscript.TestingM.
func (l leakFree) Run() int {
	code := l.m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PROCTOR_TOKEN", "") // the developer's own is nobody's business
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":   serve,
			"request": request,
			"code":    code,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// serve runs "proctor serve" with args on a free port and sets $URL. The server
// is told to stop when the script ends, and has to end well.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("serve wants a server; use exec for one that must not start")
	}
	cmd := exec.CommandContext(context.Background(), "proctor", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "PROCTOR_TOKEN="+ts.Getenv("PROCTOR_TOKEN"))
	var log bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &log, 5*time.Second
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		end := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer end.Stop()
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
		if err := cmd.Wait(); err != nil {
			ts.Fatalf("the server ended with %v; its log:\n%s", err, log.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !ok {
		ts.Fatalf("the server said %q, %v", line, err)
	}
	ts.Setenv("URL", url)
}

// request does "request METHOD PATH [BODY]" against $URL, with $PROCTOR_TOKEN if
// that is set. The status line and the body go to stdout. It fails, or with
// neg succeeds, where the status is 400 or more.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: request METHOD PATH [BODY]")
	}
	var body io.Reader
	if len(args) == 3 {
		body = strings.NewReader(args[2])
	}
	req, err := http.NewRequestWithContext(context.Background(), args[0], ts.Getenv("URL")+args[1], body)
	ts.Check(err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if tok := ts.Getenv("PROCTOR_TOKEN"); tok != "" {
		req.Header.Set("Authorization", "Bearer "+tok)
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(resp.Body.Close())
	_, err = io.WriteString(ts.Stdout(), resp.Status+"\n"+string(text))
	ts.Check(err)
	if failed := resp.StatusCode >= 400; failed != neg {
		ts.Fatalf("%s %s: %s\n%s", args[0], args[1], resp.Status, text)
	}
	// Later requests can name what this one made.
	for _, name := range []string{"env_id", "episode_id"} {
		if _, rest, ok := strings.Cut(string(text), `"`+name+`":"`); ok {
			value, _, _ := strings.Cut(rest, `"`)
			ts.Setenv(strings.ToUpper(name), value)
		}
	}
}

// code runs "code N PROGRAM ARGS..." and wants exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM ARGS...")
	}
	want := args[0]
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != want {
		ts.Fatalf("%q ended with code %s, want %s", args[1:], got, want)
	}
}
