package client

import (
	"context"
	"encoding/json"

	"github.com/proctor-rl/proctor/api"
)

// Create makes an env that lives as long as this socket and its grace.
func (c *Conn) Create(ctx context.Context, req api.CreateEnvRequest) (api.Env, error) {
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
func (c *Conn) CreateGroup(ctx context.Context, req api.CreateEnvRequest) ([]api.Env, error) {
	var raw json.RawMessage
	if err := c.call(ctx, "create", "", req, &raw); err != nil {
		return nil, err
	}
	return envsOf(raw)
}

// Reset starts an episode on an env.
func (c *Conn) Reset(ctx context.Context, envID string, req api.ResetRequest) (r api.ResetResult, err error) {
	err = c.call(ctx, "reset", envID, req, &r)
	return r, err
}

// Step applies an action. Give it its index, so that it can be repeated on
// another socket after this one broke.
func (c *Conn) Step(ctx context.Context, envID string, req api.StepRequest) (r api.StepResult, err error) {
	err = c.call(ctx, "step", envID, req, &r)
	return r, err
}

// Score grades the state as it stands and ends the episode.
func (c *Conn) Score(ctx context.Context, envID string) (r api.StepResult, err error) {
	err = c.call(ctx, "score", envID, nil, &r)
	return r, err
}

// CloseEnv ends an env.
func (c *Conn) CloseEnv(ctx context.Context, envID string) error {
	return c.call(ctx, "close", envID, nil, nil)
}

// Attach takes up an env whose socket is gone.
func (c *Conn) Attach(ctx context.Context, envID string) (r api.Env, err error) {
	err = c.call(ctx, "attach", envID, nil, &r)
	return r, err
}

// BatchStep steps many envs in one frame.
func (c *Conn) BatchStep(ctx context.Context, req api.BatchStepRequest) (r api.BatchStepResult, err error) {
	err = c.call(ctx, "batch_step", "", req, &r)
	return r, err
}

// Ping asks for an answer on the frame level.
func (c *Conn) Ping(ctx context.Context) error { return c.call(ctx, "ping", "", nil, nil) }
