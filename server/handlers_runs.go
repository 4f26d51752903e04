package server

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/store"
)

// CreateRun keeps a training run.
func (h handlers) CreateRun(ctx context.Context, r oapi.CreateRunRequestObject) (oapi.CreateRunResponseObject, error) {
	run := api.Run{RunID: "run_" + rand.Text(), Name: r.Body.Name, Labels: r.Body.Labels, CreatedAt: time.Now().UTC()}
	if err := h.s.store.AddRun(ctx, principalOf(ctx).owner, run); err != nil {
		return nil, err
	}
	h.s.events.ran(principalOf(ctx).owner, run)
	return jsonReply{status: http.StatusCreated, body: run}, nil
}

// ListRuns lists runs, newest first.
func (h handlers) ListRuns(ctx context.Context, _ oapi.ListRunsRequestObject) (oapi.ListRunsResponseObject, error) {
	runs, err := h.s.store.Runs(ctx, ownerFilter(ctx))
	if err != nil {
		return nil, err
	}
	if runs == nil {
		runs = []api.Run{}
	}
	return oapi.ListRuns200JSONResponse{Runs: runs}, nil
}

// PushPoints adds to a run's curve.
func (h handlers) PushPoints(ctx context.Context, r oapi.PushPointsRequestObject) (oapi.PushPointsResponseObject, error) {
	owner := principalOf(ctx).owner
	if actor(ctx).All {
		owner = ""
	}
	owner, err := h.s.store.AddPoints(ctx, owner, r.RunID, r.Body.Points)
	if err != nil {
		return nil, runError(err)
	}
	h.s.events.pointed(owner, r.RunID, r.Body.Points)
	return oapi.PushPoints204Response{}, nil
}

// ListPoints reads a run's curve.
func (h handlers) ListPoints(ctx context.Context, r oapi.ListPointsRequestObject) (oapi.ListPointsResponseObject, error) {
	after := int64(-1)
	if r.Params.After != nil {
		after = *r.Params.After
	}
	ps, err := h.s.store.Points(ctx, ownerFilter(ctx), r.RunID, after)
	if err != nil {
		return nil, runError(err)
	}
	if ps == nil {
		ps = []api.Point{}
	}
	return oapi.ListPoints200JSONResponse{RunID: r.RunID, Points: ps}, nil
}

func runError(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return refusal(api.ProblemCodeRunNotFound, "no such run")
	}
	return err
}
