package proctor

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/proctor-rl/proctor/server"
)

const tokenHelp = `usage: proctor token --file FILE [flags]

Makes a bearer token, prints it once on stdout and adds its hash to FILE, which
"proctor serve --tokens FILE" reads. Scopes: rollout plays; operator also reads
everybody's episodes and the metrics; admin also ends everybody's envs.

example: proctor token --file tokens.jsonl --owner alice --scope rollout

`

// tokenLine is one line of a token file.
type tokenLine struct {
	Owner  string `json:"owner"`
	Scope  string `json:"scope"`
	SHA256 string `json:"sha256"`
}

// token is the subcommand of that name.
func token(_ context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("token", flag.ContinueOnError)
	fs.SetOutput(stderr)
	file := fs.String("file", "", "file to add the token's hash to")
	owner := fs.String("owner", "default", "who it belongs to")
	scope := fs.String("scope", "rollout", "rollout, operator or admin")
	asJSON := fs.Bool("json", false, "print {\"token\", \"owner\", \"scope\"}")
	if code, ok := parse(fs, args, tokenHelp, stdout); !ok {
		return code
	}
	_, known := server.ParseScope(*scope)
	switch {
	case fs.NArg() > 0:
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	case *file == "" || *owner == "":
		return misuse(fs, "name a token file with --file FILE, and an --owner")
	case !known:
		return misuse(fs, "--scope %q: have rollout, operator, admin", *scope)
	}
	secret := "pt_" + rand.Text() + rand.Text()
	if err := addToken(*file, *owner, *scope, secret); err != nil {
		fmt.Fprintln(stderr, "proctor token:", err)
		return exitFail
	}
	if !*asJSON {
		fmt.Fprintln(stdout, secret)
		return exitOK
	}
	if err := json.NewEncoder(stdout).Encode(map[string]string{"token": secret, "owner": *owner, "scope": *scope}); err != nil {
		fmt.Fprintln(stderr, "proctor token:", err)
		return exitFail
	}
	return exitOK
}

func addToken(file, owner, scope, secret string) (err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open token file: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	h := server.HashToken(secret)
	return json.NewEncoder(f).Encode(tokenLine{Owner: owner, Scope: scope, SHA256: hex.EncodeToString(h[:])})
}

// loadTokens reads a token file, if there is one, and takes the token of the
// environment, if there is one, as an admin's.
func loadTokens(file, secret string) ([]server.Token, error) {
	var out []server.Token
	if secret != "" {
		out = append(out, server.Token{Owner: "admin", Scope: server.ScopeAdmin, Hash: server.HashToken(secret)})
	}
	if file == "" {
		return out, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open token file: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		var l tokenLine
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s:%d: not a token line", file, n)
		}
		scope, ok := server.ParseScope(l.Scope)
		h, err := hex.DecodeString(l.SHA256)
		if !ok || err != nil || len(h) != 32 || l.Owner == "" {
			return nil, fmt.Errorf("%s:%d: not a token line", file, n)
		}
		out = append(out, server.Token{Owner: l.Owner, Scope: scope, Hash: [32]byte(h)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no token", file)
	}
	return out, sc.Err()
}
