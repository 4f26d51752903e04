package server

import (
	"context"
	"net/http"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/internal/strict"
)

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// createReply is the body of a create: one env, or a list.
func createReply(c episode.Created) any {
	if c.Group {
		return api.EnvList{GroupID: c.ID, Envs: c.Envs}
	}
	return c.Envs[0]
}

// ListEnvs lists the live envs that the caller may see.
func (h handlers) ListEnvs(ctx context.Context, _ oapi.ListEnvsRequestObject) (oapi.ListEnvsResponseObject, error) {
	return answer(oapi.ListEnvs200JSONResponse{Envs: h.s.mgr.Envs(reader(ctx))}), nil
}

// CreateEnv makes one env or a group.
func (h handlers) CreateEnv(ctx context.Context, r oapi.CreateEnvRequestObject) (oapi.CreateEnvResponseObject, error) {
	c, replayed, err := h.s.mgr.Create(ctx, actor(ctx), *r.Body, deref(r.Params.IdempotencyKey), nil)
	if err != nil {
		return nil, err
	}
	loc := "/envs"
	if !c.Group {
		loc = "/envs/" + c.Envs[0].EnvID
	}
	return jsonReply{status: http.StatusCreated, location: loc, replayed: replayed, body: createReply(c)}, nil
}

// GetEnv looks at an env.
func (h handlers) GetEnv(ctx context.Context, r oapi.GetEnvRequestObject) (oapi.GetEnvResponseObject, error) {
	e, err := h.s.mgr.Env(reader(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return answer(oapi.GetEnv200JSONResponse(e)), nil
}

// DeleteEnv ends an env.
func (h handlers) DeleteEnv(ctx context.Context, r oapi.DeleteEnvRequestObject) (oapi.DeleteEnvResponseObject, error) {
	if err := h.s.mgr.Close(actor(ctx), r.ID); err != nil {
		return nil, err
	}
	return oapi.DeleteEnv204Response{}, nil
}

// ResetEnv starts an episode.
func (h handlers) ResetEnv(ctx context.Context, r oapi.ResetEnvRequestObject) (oapi.ResetEnvResponseObject, error) {
	var req api.ResetRequest
	if r.Body != nil {
		req = *r.Body
	}
	res, replayed, err := h.s.mgr.Reset(ctx, actor(ctx), r.ID, req, deref(r.Params.IdempotencyKey))
	if err != nil {
		return nil, err
	}
	return jsonReply{status: http.StatusOK, replayed: replayed, body: res}, nil
}

// StepEnv is only here to complete the interface: the route is served by
// Server.step, which decodes the body without the schema validator.
func (h handlers) StepEnv(ctx context.Context, r oapi.StepEnvRequestObject) (oapi.StepEnvResponseObject, error) {
	res, replayed, err := h.s.mgr.Step(ctx, actor(ctx), r.ID, *r.Body, deref(r.Params.IdempotencyKey))
	if err != nil {
		return nil, err
	}
	return jsonReply{status: http.StatusOK, replayed: replayed, body: res}, nil
}

// step serves POST /envs/{id}/step. It answers exactly as the generated route
// would, but checks the body by strict decoding alone.
func (s *Server) step(w http.ResponseWriter, r *http.Request, id, key string) {
	err := s.contract.ops["POST /envs/{id}/step"].checkQuery(r)
	var body []byte
	if err == nil {
		var done func()
		body, done, err = s.readBody(w, r)
		defer done()
	}
	if err == nil && body == nil {
		err = refusal(api.ProblemCodeInvalidJSON, "a JSON body is needed")
	}
	var req api.StepRequest
	if err == nil {
		err = faultError(strict.Unmarshal(body, &req))
	}
	if err == nil && len(key) > maxKey {
		err = episode.Invalid("/Idempotency-Key", "must have at most 200 characters")
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	res, replayed, err := s.mgr.Step(r.Context(), actor(r.Context()), id, req, key)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	_ = jsonReply{status: http.StatusOK, replayed: replayed, body: res}.write(w) // the client may be gone
}

// maxKey is the longest idempotency key.
const maxKey = 200

// ScoreEnv grades and ends an episode.
func (h handlers) ScoreEnv(ctx context.Context, r oapi.ScoreEnvRequestObject) (oapi.ScoreEnvResponseObject, error) {
	res, err := h.s.mgr.Score(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return jsonReply{status: http.StatusOK, body: res}, nil
}

// SnapshotEnv keeps an env's state.
func (h handlers) SnapshotEnv(ctx context.Context, r oapi.SnapshotEnvRequestObject) (oapi.SnapshotEnvResponseObject, error) {
	id, err := h.s.mgr.Snapshot(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return jsonReply{status: http.StatusCreated, body: api.Snapshot{SnapshotID: id}}, nil
}

// DeleteSnapshot forgets a kept state.
func (h handlers) DeleteSnapshot(ctx context.Context, r oapi.DeleteSnapshotRequestObject) (oapi.DeleteSnapshotResponseObject, error) {
	if err := h.s.mgr.DropSnapshot(actor(ctx), r.SnapshotID); err != nil {
		return nil, err
	}
	return oapi.DeleteSnapshot204Response{}, nil
}

// ForkEnv copies an env's state into new ones.
func (h handlers) ForkEnv(ctx context.Context, r oapi.ForkEnvRequestObject) (oapi.ForkEnvResponseObject, error) {
	n := 1
	if r.Body != nil && r.Body.Count != nil {
		n = *r.Body.Count
	}
	es, err := h.s.mgr.Fork(ctx, actor(ctx), r.ID, n)
	if err != nil {
		return nil, err
	}
	return jsonReply{status: http.StatusCreated, body: api.EnvList{Envs: es}}, nil
}
