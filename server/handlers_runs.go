package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/store"
)

// CreateRun keeps a training run.
func (h handlers) CreateRun(ctx context.Context, r oapi.CreateRunRequestObject) (oapi.CreateRunResponseObject, error) {
	run := api.Run{RunID: "run_" + rand.Text(), Owner: principalOf(ctx).owner, Name: r.Body.Name, Labels: r.Body.Labels, CreatedAt: time.Now().UTC()}
	err := h.s.store.AddRun(ctx, principalOf(ctx).owner, run)
	if errors.Is(err, store.ErrFull) {
		return nil, refusal(api.ProblemCodeCapacity, fmt.Sprintf("an owner keeps at most %d runs; DELETE /runs/{run_id} forgets one", store.MostRuns))
	}
	if err != nil {
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
	return answer(oapi.ListRuns200JSONResponse{Runs: runs}), nil
}

// PushPoints adds to a run's curve.
func (h handlers) PushPoints(ctx context.Context, r oapi.PushPointsRequestObject) (oapi.PushPointsResponseObject, error) {
	for i, p := range r.Body.Points {
		for name := range p.Values {
			if len(name) > maxMetricName {
				return nil, episode.Invalid(fmt.Sprintf("/points/%d/values", i), fmt.Sprintf("has a name above %d bytes", maxMetricName))
			}
		}
	}
	owner, err := h.s.store.AddPoints(ctx, changes(ctx), r.RunID, r.Body.Points)
	if err != nil {
		return nil, runError(err)
	}
	h.s.events.pointed(owner, r.RunID, r.Body.Points)
	return oapi.PushPoints204Response{}, nil
}

// maxMetricName is the longest name of a value.
const maxMetricName = 128

// changes is the owner whose runs a caller may change, empty for all.
func changes(ctx context.Context) string {
	if w := actor(ctx); !w.All {
		return w.Owner
	}
	return ""
}

// DeleteRun forgets a run.
func (h handlers) DeleteRun(ctx context.Context, r oapi.DeleteRunRequestObject) (oapi.DeleteRunResponseObject, error) {
	if err := h.s.store.DropRun(ctx, changes(ctx), r.RunID); err != nil {
		return nil, runError(err)
	}
	return oapi.DeleteRun204Response{}, nil
}

// ListPoints reads a run's curve.
func (h handlers) ListPoints(ctx context.Context, r oapi.ListPointsRequestObject) (oapi.ListPointsResponseObject, error) {
	after := int64(-1)
	if r.Params.After != nil {
		after = *r.Params.After
	}
	if r.Params.Cursor != nil {
		n, err := strconv.ParseInt(*r.Params.Cursor, 10, 64)
		if err != nil || n < 0 {
			return nil, episode.Invalid("/cursor", "is none that this server gave out")
		}
		after = max(after, n)
	}
	limit := 1000
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	ps, more, err := h.s.store.Points(ctx, ownerFilter(ctx), r.RunID, after, limit)
	if err != nil {
		return nil, runError(err)
	}
	if ps == nil {
		ps = []api.Point{}
	}
	out := oapi.ListPoints200JSONResponse{RunID: r.RunID, Points: ps}
	if more {
		out.NextCursor = strconv.FormatInt(ps[len(ps)-1].Update, 10)
	}
	return answer(out), nil
}

func runError(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return refusal(api.ProblemCodeRunNotFound, "no such run")
	}
	return err
}
