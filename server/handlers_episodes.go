package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/store"
)

// Recorder makes a store the recorder of an episode manager.
func Recorder(s store.Store) episode.Recorder { return recorder{s} }

type recorder struct{ s store.Store }

func (r recorder) Started(e episode.Record) { r.s.Started(store.Record(e)) }
func (r recorder) Ended(e episode.Record)   { r.s.Ended(store.Record(e)) }
func (r recorder) Kept(ctx context.Context) { _ = r.s.Sync(ctx) } // a failure is the end of ctx

// ownerFilter is the owner whose entries a caller may read, empty for all.
func ownerFilter(ctx context.Context) string {
	if w := reader(ctx); !w.All {
		return w.Owner
	}
	return ""
}

// episodes is a page of episodes with the running ones as they stand.
func (s *Server) episodes(ctx context.Context, f store.Filter) ([]store.Entry, error) {
	f.Owner = ownerFilter(ctx)
	es, err := s.store.Episodes(ctx, f)
	if err != nil {
		return nil, err
	}
	for i := range es {
		if rec, ok := s.mgr.Episode(es[i].Episode.EpisodeID); ok {
			es[i].Episode = rec.Episode
		}
	}
	return es, nil
}

// record is an episode with its steps, running or ended.
func (s *Server) record(ctx context.Context, id string) (store.Record, error) {
	rec, ok := s.mgr.Episode(id)
	out := store.Record(rec)
	if !ok {
		var err error
		out, err = s.store.Episode(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return out, episode.ErrEpisodeNotFound(id)
		}
		if err != nil {
			return out, err
		}
	}
	if owner := ownerFilter(ctx); owner != "" && owner != out.Owner {
		return store.Record{}, episode.ErrEpisodeNotFound(id)
	}
	return out, nil
}

// ListEpisodes lists episodes, newest first.
func (h handlers) ListEpisodes(ctx context.Context, r oapi.ListEpisodesRequestObject) (oapi.ListEpisodesResponseObject, error) {
	p := r.Params
	f := store.Filter{Type: deref(p.Type), TaskID: deref(p.TaskID), GroupID: deref(p.GroupID), Only: deref(p.Owner), Limit: 100}
	if p.Status != nil {
		f.Status = string(*p.Status)
	}
	if p.Limit != nil {
		f.Limit = *p.Limit
	}
	if p.Cursor != nil {
		n, err := strconv.ParseInt(*p.Cursor, 10, 64)
		if err != nil || n < 1 {
			return nil, episode.Invalid("/cursor", "is none that this server gave out")
		}
		f.Before = n
	}
	es, err := h.s.episodes(ctx, f)
	if err != nil {
		return nil, err
	}
	out := oapi.ListEpisodes200JSONResponse{Episodes: make([]api.Episode, len(es))}
	for i, e := range es {
		out.Episodes[i] = e.Episode
	}
	if len(es) == f.Limit {
		out.NextCursor = strconv.FormatInt(es[len(es)-1].Seq, 10)
	}
	return answer(out), nil
}

// GetEpisode reads an episode's summary.
func (h handlers) GetEpisode(ctx context.Context, r oapi.GetEpisodeRequestObject) (oapi.GetEpisodeResponseObject, error) {
	rec, err := h.s.record(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	return answer(oapi.GetEpisode200JSONResponse(rec.Episode)), nil
}

// ListSteps reads an episode's trajectory.
func (h handlers) ListSteps(ctx context.Context, r oapi.ListStepsRequestObject) (oapi.ListStepsResponseObject, error) {
	rec, err := h.s.record(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	steps := rec.Steps
	if steps == nil {
		steps = []api.Step{}
	}
	return answer(oapi.ListSteps200JSONResponse{EpisodeID: rec.Episode.EpisodeID, Observation: rec.Reset, Steps: steps}), nil
}

// ReplayEpisode plays an ended episode's actions again.
func (h handlers) ReplayEpisode(ctx context.Context, r oapi.ReplayEpisodeRequestObject) (oapi.ReplayEpisodeResponseObject, error) {
	rec, err := h.s.record(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	res, err := h.s.mgr.Replay(ctx, episode.Record(rec))
	if err != nil {
		return nil, err
	}
	return answer(oapi.ReplayEpisode200JSONResponse(res)), nil
}
