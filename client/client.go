package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client/internal/oapi"
)

// Options tune a Client or a Conn. The zero value is useful.
type Options struct {
	// Token is sent as a bearer token where it is not empty.
	Token string
	// Timeout bounds a call whose context has no deadline. 0 means two minutes.
	Timeout time.Duration
	// Retries is how often a safe call is repeated. 0 means three times, below 0 never.
	Retries int
	// HTTPClient carries REST calls; nil means a client of its own.
	HTTPClient *http.Client
	// PingInterval is how often a Conn pings. 0 means never, which suits
	// proxies that drop control frames: the server asks on its own.
	PingInterval time.Duration
	// ResumeGrace is how long the server keeps a Conn's envs after its socket
	// is gone. 0 means the server's default.
	ResumeGrace time.Duration
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Retries == 0 {
		o.Retries = 3
	}
	if o.HTTPClient == nil {
		t, ok := http.DefaultTransport.(*http.Transport)
		if ok {
			t = t.Clone()
			t.MaxIdleConnsPerHost = 64
			o.HTTPClient = &http.Client{Transport: t}
		} else {
			o.HTTPClient = &http.Client{}
		}
	}
	return o
}

// Client speaks REST.
type Client struct {
	core *oapi.Client
	opts Options
	base string
}

// New makes a client of the server at baseURL, such as http://127.0.0.1:8080.
func New(baseURL string, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	base := strings.TrimSuffix(baseURL, "/")
	if !strings.HasPrefix(base, "http://") && !strings.HasPrefix(base, "https://") {
		return nil, fmt.Errorf("client: %q is no http or https address", baseURL)
	}
	core, err := oapi.NewClient(base, oapi.WithHTTPClient(opts.HTTPClient), oapi.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			if opts.Token != "" {
				r.Header.Set("Authorization", "Bearer "+opts.Token)
			}
			return nil
		},
	))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Client{core: core, opts: opts, base: base}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.opts.HTTPClient.CloseIdleConnections() }

// maxReply bounds what is read of one reply.
const maxReply = 256 << 20

// call sends a request and decodes its JSON reply into T. A safe request is
// repeated after a broken connection and after a retryable refusal.
func call[T any](ctx context.Context, c *Client, safe bool, send func(context.Context) (*http.Response, error)) (T, error) {
	var zero T
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	for attempt := 0; ; attempt++ {
		out, wait, err := once[T](ctx, send)
		if err == nil {
			return out, nil
		}
		if !safe || wait < 0 || attempt >= c.opts.Retries || ctx.Err() != nil {
			return zero, err
		}
		if wait == 0 {
			wait = 50 * time.Millisecond << attempt
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return zero, err
		case <-timer.C:
		}
	}
}

// once sends one request. The wait is below 0 where a repeat is of no use.
func once[T any](ctx context.Context, send func(context.Context) (*http.Response, error)) (out T, wait time.Duration, err error) {
	resp, err := send(ctx)
	if err != nil {
		return out, 0, fmt.Errorf("client: %w", err)
	}
	defer resp.Body.Close() // nothing can be done about it
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return out, 0, fmt.Errorf("client: read reply: %w", err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		e := problem(resp.StatusCode, body)
		wait = -1
		if e.Retryable {
			wait = time.Duration(e.RetryAfterMs) * time.Millisecond
		}
		return out, wait, e
	}
	switch p := any(&out).(type) {
	case *struct{}:
	case *[]byte:
		*p = body
	default:
		if err := json.Unmarshal(body, &out); err != nil {
			return out, -1, fmt.Errorf("client: decode reply: %w", err)
		}
	}
	return out, 0, nil
}

func problem(status int, body []byte) *Error {
	e := &Error{}
	if err := json.Unmarshal(body, &e.Problem); err != nil || e.Code == "" {
		// A proxy on the way may answer with something else.
		e.Problem = api.Problem{
			Status: status, Title: http.StatusText(status), Code: api.ProblemCodeInternal, Effect: api.EffectUnknown,
			Retryable: status == http.StatusBadGateway || status == http.StatusServiceUnavailable,
		}
	}
	return e
}

// key is a fresh idempotency key.
func key() *string { k := rand.Text(); return &k }

// errNoEnv is a reply without the env that was asked for.
var errNoEnv = errors.New("client: reply holds no env")
