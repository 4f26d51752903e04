package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
)

// batch runs n items at once, but those of one env in their order, and gives
// their results as they finish. It ends when enough are there; the rest go on and
// a repeat gets their replies.
func batch[T any](ctx context.Context, n, enough int, env func(i int) string, run func(ctx context.Context, i int) T) <-chan indexed[T] {
	out := make(chan indexed[T], n) // room for all, so that nobody waits for a reader who left
	done := make(chan indexed[T])
	of := map[string][]int{}
	for i := range n {
		of[env(i)] = append(of[env(i)], i)
	}
	for _, items := range of {
		ctx := ctx
		if len(items) > 1 {
			ctx = context.WithoutCancel(ctx) // the next one begins only after this one's end
		}
		go func() {
			for _, i := range items {
				out <- indexed[T]{i, run(ctx, i)}
			}
		}()
	}
	go func() {
		defer close(done)
		for range enough {
			select {
			case done <- <-out:
			case <-ctx.Done():
				return
			}
		}
	}()
	return done
}

// caught is a call's result; a panic is its error.
func caught[T any](f func() (T, bool, error)) (v T, err error) {
	defer recovered(&err)
	v, _, err = f()
	return v, err
}

type indexed[T any] struct {
	i int
	v T
}

// quorum is how many items a batch waits for.
func quorum(n int, mode api.BatchMode, minReady *int) (int, error) {
	if mode != "" && !mode.Valid() {
		return 0, episode.Invalid("/mode", "must be all or first")
	}
	if n < 1 || n > 1024 {
		return 0, episode.Invalid("/items", "must have from 1 to 1024 entries")
	}
	if minReady != nil && (*minReady < 1 || *minReady > n) {
		return 0, episode.Invalid("/min_ready", "must be from 1 to the number of items")
	}
	switch {
	case mode == api.BatchModeFirst && minReady != nil:
		return *minReady, nil
	case mode == api.BatchModeFirst:
		return 1, nil
	}
	return n, nil
}

// pending is the entry of an item that a batch did not wait for.
func (s *Server) pending(ctx context.Context, envID string) *api.Problem {
	p := s.problemOf(ctx, &episode.Error{
		Code: api.ProblemCodeStepInProgress, Detail: "it goes on; a repeat with the same index gets its reply",
		Retryable: true, Effect: api.EffectUnknown, EnvID: envID,
	})
	return &p
}

func (s *Server) batchStep(ctx context.Context, req api.BatchStepRequest) (<-chan indexed[api.BatchStepItemResult], error) {
	enough, err := quorum(len(req.Items), req.Mode, req.MinReady)
	if err != nil {
		return nil, err
	}
	return batch(ctx, len(req.Items), enough, func(i int) string { return req.Items[i].EnvID }, func(ctx context.Context, i int) api.BatchStepItemResult {
		it := req.Items[i]
		out := api.BatchStepItemResult{EnvID: it.EnvID, Index: i}
		res, err := caught(func() (*api.StepResult, bool, error) {
			return s.mgr.Step(ctx, actor(ctx), it.EnvID, api.StepRequest{
				Action: it.Action, Step: it.Step, EpisodeID: it.EpisodeID, TimeoutMs: it.TimeoutMs,
			}, "")
		})
		if err != nil {
			p := s.problemOf(ctx, err)
			out.Problem = &p
		} else {
			out.Result = res
		}
		return out
	}), nil
}

// collectSteps waits for a batch and lays its entries out in request order.
func (s *Server) collectSteps(ctx context.Context, req api.BatchStepRequest) (api.BatchStepResult, error) {
	ch, err := s.batchStep(ctx, req)
	if err != nil {
		return api.BatchStepResult{}, err
	}
	out := api.BatchStepResult{Items: make([]api.BatchStepItemResult, len(req.Items))}
	seen := make([]bool, len(req.Items))
	for r := range ch {
		out.Items[r.i], seen[r.i] = r.v, true
	}
	for i, ok := range seen {
		if !ok {
			out.Items[i] = api.BatchStepItemResult{EnvID: req.Items[i].EnvID, Index: i, Problem: s.pending(ctx, req.Items[i].EnvID)}
		}
	}
	return out, nil
}

// BatchStep steps many envs.
func (h handlers) BatchStep(ctx context.Context, r oapi.BatchStepRequestObject) (oapi.BatchStepResponseObject, error) {
	if wantsLines(ctx) {
		ch, err := h.s.batchStep(ctx, *r.Body)
		if err != nil {
			return nil, err
		}
		return lines[api.BatchStepItemResult]{ch}, nil
	}
	out, err := h.s.collectSteps(ctx, *r.Body)
	if err != nil {
		return nil, err
	}
	return answer(oapi.BatchStep200JSONResponse(out)), nil
}

// BatchReset resets many envs.
func (h handlers) BatchReset(ctx context.Context, r oapi.BatchResetRequestObject) (oapi.BatchResetResponseObject, error) {
	items := r.Body.Items
	enough, err := quorum(len(items), r.Body.Mode, r.Body.MinReady)
	if err != nil {
		return nil, err
	}
	ch := batch(ctx, len(items), enough, func(i int) string { return items[i].EnvID }, func(ctx context.Context, i int) api.BatchResetItemResult {
		it := items[i]
		out := api.BatchResetItemResult{EnvID: it.EnvID, Index: i}
		res, err := caught(func() (*api.ResetResult, bool, error) {
			return h.s.mgr.Reset(ctx, actor(ctx), it.EnvID, api.ResetRequest{
				TaskID: it.TaskID, Split: it.Split, Index: it.Index, Seed: it.Seed,
				GroupID: it.GroupID, PolicyVersion: it.PolicyVersion, Limits: it.Limits,
			}, "")
		})
		if err != nil {
			p := h.s.problemOf(ctx, err)
			out.Problem = &p
		} else {
			out.Result = res
		}
		return out
	})
	if wantsLines(ctx) {
		return lines[api.BatchResetItemResult]{ch}, nil
	}
	out := oapi.BatchReset200JSONResponse{Items: make([]api.BatchResetItemResult, len(items))}
	seen := make([]bool, len(items))
	for r := range ch {
		out.Items[r.i], seen[r.i] = r.v, true
	}
	for i, ok := range seen {
		if !ok {
			out.Items[i] = api.BatchResetItemResult{EnvID: items[i].EnvID, Index: i, Problem: h.s.pending(ctx, items[i].EnvID)}
		}
	}
	return answer(out), nil
}

// lines writes results as NDJSON while they come in.
type lines[T any] struct{ ch <-chan indexed[T] }

func (l lines[T]) write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(w)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for r := range l.ch {
		if err := enc.Encode(r.v); err != nil {
			continue // the client is gone; let the rest finish
		}
		if err := rc.Flush(); err != nil {
			continue
		}
	}
	return nil
}

// VisitBatchStepResponse writes the lines.
func (l lines[T]) VisitBatchStepResponse(w http.ResponseWriter) error { return l.write(w) }

// VisitBatchResetResponse writes the lines.
func (l lines[T]) VisitBatchResetResponse(w http.ResponseWriter) error { return l.write(w) }
