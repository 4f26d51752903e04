package proctor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
	"github.com/proctor-rl/proctor/internal/buildinfo"
	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/store"
	"github.com/proctor-rl/proctor/web"
)

const serveHelp = `usage: proctor serve [flags]

Serves every environment type over REST and WebSocket, with the page at /.
Prints "listening http://HOST:PORT" when it is ready. Off loopback it needs a
token: make one with "proctor token", or set PROCTOR_TOKEN.

example: proctor serve --listen 127.0.0.1:8080 --data ./data --tasks ./tasks

`

// apiVersion is the version of openapi.yaml.
const apiVersion = "1.0.0"

type serveOptions struct {
	listen, data, tasks, tokens string
	sandbox, python             string
	naive, interpret            bool
	drain                       time.Duration
	logLevel                    slog.Level
	envs                        all.Options
	mgr                         episode.Config
	srv                         server.Config
}

func parseServe(args []string, stdout, stderr io.Writer) (o serveOptions, code int) {
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	fs.StringVar(&o.data, "data", "", "folder to keep episodes in; empty keeps them until the server ends")
	fs.StringVar(&o.tasks, "tasks", "", "folder of your own tasks, DIR/<env type>/*.json")
	fs.StringVar(&o.tokens, "tokens", "", "file of tokens made by \"proctor token\"")
	fs.StringVar(&o.sandbox, "sandbox", sandboxAuto, "how agent code is confined: auto, "+sandboxOff+" to refuse the code environments, or "+sandboxNone+" to let it do as it likes")
	fs.StringVar(&o.python, "python", "", "python3 that runs agent code; it needs pytest (Debian: python3-pytest); empty looks for one, and without one the code environments are refused")
	fs.BoolVar(&o.naive, "with-naive-UNSAFE", false, "also serve codefix-naive-unsafe, the code environment that can be gamed")
	fs.BoolVar(&o.interpret, "interpret-grammar", false, "run programs that codefix-grammar could have written by its interpreter, everything else in the sandbox: for trials of recipes")
	worldFlags(fs, &o.envs)
	fs.DurationVar(&o.drain, "drain", 5*time.Second, "how long to wait for running steps at the end")
	fs.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "debug, info, warn or error")
	fs.IntVar(&o.mgr.MaxEnvs, "max-envs", 4096, "live envs in all")
	fs.IntVar(&o.mgr.MaxEnvsPerOwner, "max-envs-per-owner", 0, "live envs of one owner, 0 for no bound of its own")
	fs.DurationVar(&o.mgr.DefaultTTL, "ttl", 30*time.Minute, "how long an unused env lives")
	fs.DurationVar(&o.mgr.StepTimeout, "step-timeout", 2*time.Minute, "the longest a step may take")
	fs.DurationVar(&o.srv.PingInterval, "ws-ping", 30*time.Second, "pings on a socket, below 0 for none")
	fs.DurationVar(&o.srv.IdleTimeout, "ws-idle", 90*time.Second, "silence after which a socket is closed, below 0 for never")
	fs.DurationVar(&o.srv.ResumeGrace, "ws-grace", 30*time.Second, "how long envs outlive their socket")
	fs.Int64Var(&o.srv.MaxBody, "max-body", 4<<20, "bytes of a request body or frame")
	if code, ok := parse(fs, args, serveHelp, stdout); !ok {
		return o, code
	}
	if fs.NArg() > 0 {
		return o, misuse(fs, "unexpected argument %q", fs.Arg(0))
	}
	if o.sandbox != sandboxAuto && o.sandbox != sandboxOff && o.sandbox != sandboxNone {
		return o, misuse(fs, "--sandbox %q: have auto, %s, %s", o.sandbox, sandboxOff, sandboxNone)
	}
	if name := idle(fs, "python", "with-naive-UNSAFE", "interpret-grammar"); name != "" && o.sandbox == sandboxOff {
		return o, misuse(fs, "--%s does nothing with --sandbox %s", name, sandboxOff)
	}
	switch {
	case o.mgr.MaxEnvs < 1 || o.srv.MaxBody < 1:
		return o, misuse(fs, "--max-envs and --max-body must be at least 1")
	case o.mgr.MaxEnvsPerOwner < 0:
		return o, misuse(fs, "--max-envs-per-owner must not be negative")
	case o.mgr.DefaultTTL <= 0 || o.mgr.StepTimeout <= 0:
		return o, misuse(fs, "--ttl and --step-timeout must be above 0")
	case o.drain < 0:
		return o, misuse(fs, "--drain must not be negative")
	}
	if err := checkWorld(o.envs); err != nil {
		fmt.Fprintln(stderr, "proctor serve:", err)
		return o, exitUsage
	}
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return o, misuse(fs, "--listen %q: want HOST:PORT", o.listen)
	}
	return o, -1
}

// serve is the subcommand of that name.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, code := parseServe(args, stdout, stderr)
	if code >= 0 {
		return code
	}
	log := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: o.logLevel}))
	if err := runServer(ctx, o, log, stdout); err != nil {
		fmt.Fprintln(stderr, "proctor serve:", err)
		return exitFail
	}
	return exitOK
}

func runServer(ctx context.Context, o serveOptions, log *slog.Logger, stdout io.Writer) (err error) {
	tokens, err := loadTokens(o.tokens, os.Getenv("PROCTOR_TOKEN"))
	if err != nil {
		return err
	}
	if len(tokens) == 0 && !loopback(o.listen) {
		return errors.New("refusing to listen off loopback without a token; see \"proctor token --help\"")
	}
	release, err := holdFolder(o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	reg := &envs.Registry{}
	opts := o.envs
	opts.TasksDir, opts.Naive, opts.Interpret = o.tasks, o.naive, o.interpret
	pool, warnings, noSandbox := openSandbox(ctx, o, log)
	if o.python != "" && errors.Is(noSandbox, sandbox.ErrInterpreter) {
		return fmt.Errorf("--python %s: %w", o.python, noSandbox) // asked for, so not to be done without
	}
	opts.NoRunner = noSandbox
	if noSandbox != nil && (o.naive || o.interpret) {
		warnings = append(warnings, "--with-naive-UNSAFE and --interpret-grammar do nothing without a sandbox")
		log.WarnContext(ctx, "--with-naive-UNSAFE and --interpret-grammar do nothing without a sandbox")
	}
	if pool != nil {
		opts.Runner = pool
		defer func() { err = errors.Join(err, pool.Close()) }()
	}
	if err := all.Register(reg, opts); err != nil {
		return err
	}
	o.srv.Warnings = append(o.srv.Warnings, warnings...)
	st, err := store.Open(ctx, o.data, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()

	b := buildinfo.Read()
	build := api.Version{Version: b.Version, Revision: b.Revision, GoVersion: b.GoVersion, APIVersion: apiVersion}
	metrics := server.NewMetrics(build)
	o.mgr.Log = log
	mgr := episode.New(o.mgr, reg, server.Recorder(st), metrics)
	o.srv.Log, o.srv.Tokens, o.srv.Build, o.srv.Page = log, tokens, build, web.FS()
	srv, err := server.New(o.srv, mgr, st, metrics)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w; end what has the port, or name another one with --listen (port 0 takes a free one)", err)
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return listen(ctx, o, bound(ln, maxConnections()), srv, mgr, log, stdout)
}

// openSandbox starts what runs agent code. Where that cannot be had, the code
// environments are refused and everything else is served.
func openSandbox(ctx context.Context, o serveOptions, log *slog.Logger) (*sandbox.Pool, []string, error) {
	if o.sandbox == sandboxOff {
		return nil, []string{"the sandbox is off: the code environments are refused"}, errSandboxOff
	}
	cfg := sandbox.Config{Python: o.python, Log: log}
	if o.tasks != "" {
		cfg.Hide = append(cfg.Hide, o.tasks)
	}
	if o.data != "" {
		cfg.Hide = append(cfg.Hide, o.data)
	}
	if o.sandbox == sandboxNone {
		cfg.Mode = sandbox.ModeNone
	}
	pool, err := sandbox.New(context.WithoutCancel(ctx), cfg)
	if o.python != "" && errors.Is(err, sandbox.ErrInterpreter) {
		return nil, nil, err
	}
	if err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "the sandbox did not start; trying once more", "err", err) // a machine may be busy just then
		pool, err = sandbox.New(context.WithoutCancel(ctx), cfg)
	}
	if err != nil {
		log.ErrorContext(ctx, "refused the code environments: no sandbox", "err", err)
		return nil, []string{"no sandbox: the code environments are refused; the server's log says why"}, err
	}
	log.InfoContext(ctx, "started the sandbox", "mode", string(pool.Mode()), "python", pool.Interpreter())
	if !pool.Mode().Safe() {
		return pool, []string{"UNSAFE: agent code runs unconfined (--sandbox=" + sandboxNone + ")"}, nil
	}
	return pool, nil, nil
}

// listen serves until ctx ends, then drains: no new episodes, running steps to
// their end, every env closed and recorded.
func listen(ctx context.Context, o serveOptions, ln net.Listener, srv *server.Server, mgr *episode.Manager, log *slog.Logger, stdout io.Writer) error {
	h := httpServer(srv.Handler(), log)
	served := make(chan error, 1)
	go func() { served <- h.Serve(ln) }()
	reap, stopReaper := context.WithCancel(context.WithoutCancel(ctx))
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		mgr.Run(reap)
	}()
	defer func() {
		stopReaper()
		<-reaped
	}()
	fmt.Fprintf(stdout, "listening http://%s\n", ln.Addr())
	log.InfoContext(ctx, "listening", "address", ln.Addr().String())
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.InfoContext(ctx, "draining", "live_envs", mgr.Live())
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.drain)
	defer cancel()
	mgr.Drain(end)
	srv.Close()
	// What is left are replies on their way out.
	last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancelLast()
	if err := h.Shutdown(last); err != nil {
		_ = h.Close() // nobody is left to tell
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	log.InfoContext(ctx, "stopped")
	return nil
}

// readHeaderWithin is how long a client may take for its request's head: one
// that sends it byte by byte holds a connection no longer.
const readHeaderWithin = 10 * time.Second

func httpServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderWithin, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// loopback says whether an address is reachable from this machine alone.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
