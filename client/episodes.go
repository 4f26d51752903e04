package client

import (
	"context"
	"net/http"

	"github.com/proctor-rl/proctor/api"
)

// Episodes is one page of stored episodes, newest first.
func (c *Client) Episodes(ctx context.Context, p api.ListEpisodesParams) (api.EpisodePage, error) {
	return call[api.EpisodePage](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ListEpisodes(ctx, &p) })
}

// Episode is the summary of an episode.
func (c *Client) Episode(ctx context.Context, episodeID string) (api.Episode, error) {
	return call[api.Episode](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.GetEpisode(ctx, episodeID) })
}

// Steps is the trajectory of an episode.
func (c *Client) Steps(ctx context.Context, episodeID string) (api.StepList, error) {
	return call[api.StepList](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ListSteps(ctx, episodeID) })
}

// Export is stored episodes as training data, one JSON document a line.
func (c *Client) Export(ctx context.Context, p api.ExportEpisodesParams) ([]byte, error) {
	return call[[]byte](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ExportEpisodes(ctx, &p) })
}

// Replay re-runs an episode's stored actions on the server and compares.
func (c *Client) Replay(ctx context.Context, episodeID string) (api.ReplayResult, error) {
	return call[api.ReplayResult](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.ReplayEpisode(ctx, episodeID) })
}

// StartRun announces a training run and returns its run_id.
func (c *Client) StartRun(ctx context.Context, name string, labels map[string]string) (string, error) {
	req := api.CreateRunRequest{Name: name}
	if len(labels) > 0 {
		l := api.Labels(labels)
		req.Labels = &l
	}
	r, err := call[api.Run](ctx, c, false, func(ctx context.Context) (*http.Response, error) { return c.core.CreateRun(ctx, req) })
	return r.RunID, err
}

// PushPoints adds points to a run's curve. A repeated update replaces the
// earlier one, so it is retried safely.
func (c *Client) PushPoints(ctx context.Context, runID string, points []api.Point) error {
	_, err := call[struct{}](ctx, c, true, func(ctx context.Context) (*http.Response, error) {
		return c.core.PushPoints(ctx, runID, api.PushPointsRequest{Points: points})
	})
	return err
}

// Points is a run's curve.
func (c *Client) Points(ctx context.Context, runID string) (all []api.Point, err error) {
	var p api.ListPointsParams
	for {
		r, err := call[api.PointList](ctx, c, true, func(ctx context.Context) (*http.Response, error) {
			return c.core.ListPoints(ctx, runID, &p)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, r.Points...)
		if r.NextCursor == "" {
			return all, nil
		}
		p.Cursor = &r.NextCursor
	}
}

// DropRun forgets a run and its curve.
func (c *Client) DropRun(ctx context.Context, runID string) error {
	_, err := call[struct{}](ctx, c, false, func(ctx context.Context) (*http.Response, error) { return c.core.DeleteRun(ctx, runID) })
	return err
}

// Version says what the server runs.
func (c *Client) Version(ctx context.Context) (api.Version, error) {
	return call[api.Version](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.GetVersion(ctx) })
}

// Ready asks whether the server takes new episodes.
func (c *Client) Ready(ctx context.Context) error {
	_, err := call[api.Health](ctx, c, true, func(ctx context.Context) (*http.Response, error) { return c.core.GetReady(ctx) })
	return err
}
