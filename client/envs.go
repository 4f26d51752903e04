package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/proctor-rl/proctor/api"
)

// EnvTypes lists what the server plays.
func (c *Client) EnvTypes(ctx context.Context) ([]api.EnvType, error) {
	r, err := call[api.EnvTypeList](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ListEnvTypes(ctx) })
	return r.EnvTypes, err
}

// EnvType describes one env type.
func (c *Client) EnvType(ctx context.Context, name string) (api.EnvType, error) {
	return call[api.EnvType](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.GetEnvType(ctx, name) })
}

// Tasks lists the tasks of a split, or of all splits where split is empty,
// page after page until it has max of them; max 0 means all.
func (c *Client) Tasks(ctx context.Context, envType, split string, max int) ([]api.Task, error) {
	var out []api.Task
	limit := 1000
	p := &api.ListTasksParams{Limit: &limit}
	if split != "" {
		s := api.Split(split)
		p.Split = &s
	}
	for {
		page, err := call[api.TaskPage](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ListTasks(ctx, envType, p) })
		if err != nil {
			return nil, err
		}
		out = append(out, page.Tasks...)
		if max > 0 && len(out) >= max {
			return out[:max], nil
		}
		if page.NextCursor == "" {
			return out, nil
		}
		p.Cursor = &page.NextCursor
	}
}

// Create makes an env. It carries an idempotency key, so it is retried safely.
func (c *Client) Create(ctx context.Context, req api.CreateEnvRequest) (api.Env, error) {
	envs, err := c.CreateGroup(ctx, req)
	if err != nil {
		return api.Env{}, err
	}
	if len(envs) == 0 {
		return api.Env{}, errNoEnv
	}
	return envs[0], nil
}

// CreateGroup makes req.Count envs that start from the identical state.
func (c *Client) CreateGroup(ctx context.Context, req api.CreateEnvRequest) ([]api.Env, error) {
	k := key()
	raw, err := call[json.RawMessage](ctx, c, true, func(ctx context.Context) (*http.Response, error) {
		return c.core.CreateEnv(ctx, &api.CreateEnvParams{IdempotencyKey: k}, req)
	})
	if err != nil {
		return nil, err
	}
	return envsOf(raw)
}

// envsOf reads the reply of a create, which is one env or a list.
func envsOf(raw json.RawMessage) ([]api.Env, error) {
	var r struct {
		api.Env
		Envs []api.Env `json:"envs"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("client: decode reply: %w", err)
	}
	if r.EnvID != "" {
		return []api.Env{r.Env}, nil
	}
	return r.Envs, nil
}

// Env looks at an env.
func (c *Client) Env(ctx context.Context, envID string) (api.Env, error) {
	return call[api.Env](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.GetEnv(ctx, envID) })
}

// Envs lists the caller's live envs.
func (c *Client) Envs(ctx context.Context) ([]api.Env, error) {
	r, err := call[api.EnvList](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ListEnvs(ctx) })
	return r.Envs, err
}

// Reset starts an episode. It carries an idempotency key, so it is retried safely.
func (c *Client) Reset(ctx context.Context, envID string, req api.ResetRequest) (api.ResetResult, error) {
	k := key()
	return call[api.ResetResult](ctx, c, true, func(ctx context.Context) (*http.Response, error) {
		return c.core.ResetEnv(ctx, envID, &api.ResetEnvParams{IdempotencyKey: k}, req)
	})
}

// Step applies an action. Its index, or an idempotency key where it has none,
// makes retrying safe.
func (c *Client) Step(ctx context.Context, envID string, req api.StepRequest) (api.StepResult, error) {
	p := &api.StepEnvParams{}
	if req.Step == nil {
		p.IdempotencyKey = key()
	}
	body, err := api.Encode(req)
	if err != nil {
		return api.StepResult{}, fmt.Errorf("client: encode step: %w", err)
	}
	return call[api.StepResult](ctx, c, true, func(ctx context.Context) (*http.Response, error) {
		return c.core.StepEnvWithBody(ctx, envID, p, "application/json", bytes.NewReader(body))
	})
}

// Score grades the state as it stands and ends the episode. It is not retried.
func (c *Client) Score(ctx context.Context, envID string) (api.StepResult, error) {
	return call[api.StepResult](ctx, c, false, func(ctx context.Context) (*http.Response, error) { return c.core.ScoreEnv(ctx, envID) })
}

// DropSnapshot forgets a snapshot. It is not retried.
func (c *Client) DropSnapshot(ctx context.Context, snapshotID string) error {
	_, err := call[struct{}](ctx, c, false, func(ctx context.Context) (*http.Response, error) { return c.core.DeleteSnapshot(ctx, snapshotID) })
	return err
}

// Delete ends an env.
func (c *Client) Delete(ctx context.Context, envID string) error {
	_, err := call[struct{}](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.DeleteEnv(ctx, envID) })
	return err
}

// BatchStep steps many envs in one call. Give each item its step index: only
// then is a repeat safe, and the call is retried only if all have one.
func (c *Client) BatchStep(ctx context.Context, req api.BatchStepRequest) (api.BatchStepResult, error) {
	safe := true
	for _, it := range req.Items {
		safe = safe && it.Step != nil
	}
	body, err := api.Encode(req)
	if err != nil {
		return api.BatchStepResult{}, fmt.Errorf("client: encode steps: %w", err)
	}
	return call[api.BatchStepResult](ctx, c, safe, func(ctx context.Context) (*http.Response, error) {
		return c.core.BatchStepWithBody(ctx, "application/json", bytes.NewReader(body))
	})
}

// BatchReset resets many envs in one call. It is not retried.
func (c *Client) BatchReset(ctx context.Context, req api.BatchResetRequest) (api.BatchResetResult, error) {
	return call[api.BatchResetResult](ctx, c, false, func(ctx context.Context) (*http.Response, error) { return c.core.BatchReset(ctx, req) })
}
