package proctor

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/store"
)

const exportHelp = `usage: proctor export --data DIR [flags]

Writes the ended episodes of a data folder, one JSON document a line: whole
(jsonl), as message lists with the return (chat), or as prompt, completion and
reward (trl). Or as a Parquet file with all of that (parquet), a row an episode.

example: proctor export --data ./data --format chat --type react > episodes.jsonl

`

// export is the subcommand of that name.
func export(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("export", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var f store.Filter
	data := fs.String("data", "", "the server's data folder")
	format := fs.String("format", "jsonl", "jsonl, chat, trl or parquet")
	fs.StringVar(&f.Type, "type", "", "only this env type")
	fs.StringVar(&f.TaskID, "task", "", "only this task")
	fs.StringVar(&f.GroupID, "group", "", "only this group")
	fs.StringVar(&f.Owner, "owner", "", "only this owner's")
	fs.StringVar(&f.Status, "status", "", "only this status")
	if code, ok := parse(fs, args, exportHelp, stdout); !ok {
		return code
	}
	switch {
	case fs.NArg() > 0:
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	case *data == "":
		return misuse(fs, "name the server's data folder with --data DIR")
	case !slices.Contains([]string{"jsonl", "chat", "trl", "parquet"}, *format):
		return misuse(fs, "--format %q: have jsonl, chat, trl, parquet", *format)
	case !slices.Contains([]string{"", "terminated", "truncated", "failed", "closed"}, f.Status):
		return misuse(fs, "--status %q: have terminated, truncated, failed, closed", f.Status)
	}
	err := withStore(ctx, *data, stderr, func(st *store.SQLite) error {
		n, err := st.CountEnded(ctx, f)
		if err == nil && n == 0 {
			err = nothingFound(ctx, st, f, stderr)
		}
		if err != nil {
			return err
		}
		return server.Export(ctx, st, f, *format, stdout)
	})
	if err != nil {
		fmt.Fprintln(stderr, "proctor export:", err)
		return exitFail
	}
	return exitOK
}

// nothingFound says on stderr what there is where a filter selects nothing. A
// type that neither the episodes nor this program know is an error.
func nothingFound(ctx context.Context, st *store.SQLite, f store.Filter, stderr io.Writer) error {
	var have []string
	types, err := st.EndedTypes(ctx)
	if err != nil {
		return err
	}
	for _, t := range sortedKeys(types) {
		have = append(have, fmt.Sprintf("%s (%d)", t, types[t]))
	}
	there := "the folder has none at all"
	if len(have) > 0 {
		there = "the folder has those of " + strings.Join(have, ", ")
	}
	if f.Type != "" && types[f.Type] == 0 {
		var reg envs.Registry
		if err := all.Register(&reg, all.Options{Naive: true}); err != nil {
			return err
		}
		if _, err := reg.Get(f.Type); err != nil {
			return fmt.Errorf("no environment type is named %q; %s", f.Type, there)
		}
	}
	fmt.Fprintf(stderr, "proctor export: no ended episode is selected; %s\n", there)
	return nil
}

const replayHelp = `usage: proctor replay --data DIR EPISODE_ID

Plays a stored episode's actions again on a fresh env and compares every byte.
Exits 0 if nothing differs, 1 if something does.

example: proctor replay --data ./data ep_4XTQ2

`

// replay is the subcommand of that name.
func replay(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	fs.SetOutput(stderr)
	data := fs.String("data", "", "the server's data folder")
	tasks := fs.String("tasks", "", "folder of your own tasks, as for serve")
	var opts all.Options
	worldFlags(fs, &opts)
	asJSON := fs.Bool("json", false, "print the result as JSON")
	if code, ok := parse(fs, args, replayHelp, stdout); !ok {
		return code
	}
	if *data == "" || fs.NArg() != 1 {
		return misuse(fs, "name the server's data folder with --data DIR, and one episode")
	}
	if err := checkWorld(opts); err != nil {
		return misuse(fs, "%v", err)
	}
	var res api.ReplayResult
	err := withStore(ctx, *data, stderr, func(st *store.SQLite) error {
		rec, err := st.Episode(ctx, fs.Arg(0))
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("%s has no episode %q", *data, fs.Arg(0))
		}
		if err != nil {
			return err
		}
		reg := &envs.Registry{}
		box := &lateSandbox{}
		defer box.Close() //nolint:errcheck // the episode is over
		opts.TasksDir, opts.Runner, opts.Naive = *tasks, box, true
		if err := all.Register(reg, opts); err != nil {
			return err
		}
		res, err = episode.New(episode.Config{}, reg, nil, nil).Replay(ctx, episode.Record(rec))
		return err
	})
	if err != nil {
		fmt.Fprintln(stderr, "proctor replay:", err)
		return exitFail
	}
	switch {
	case *asJSON:
		if err := json.NewEncoder(stdout).Encode(res); err != nil {
			fmt.Fprintln(stderr, "proctor replay:", err)
			return exitFail
		}
	case res.Identical:
		fmt.Fprintf(stdout, "identical: %d steps\n", res.Steps)
	default:
		fmt.Fprintf(stdout, "differs at step %d in %s\n", res.FirstDivergence.Step, res.FirstDivergence.Field)
	}
	if !res.Identical {
		return exitFail
	}
	return exitOK
}

// withStore opens the store of an existing folder for f.
func withStore(ctx context.Context, dir string, stderr io.Writer, f func(*store.SQLite) error) (err error) {
	if !store.In(dir) {
		return fmt.Errorf("%s holds no episodes; want the folder that \"proctor serve --data\" was given", dir)
	}
	st, err := store.OpenReadOnly(ctx, dir, slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(st)
}
