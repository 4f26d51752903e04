package server

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/proctor-rl/proctor/api"
)

// Config says how to serve. The zero value serves without authentication.
type Config struct {
	Tokens         []Token       // none: authentication is off
	Page           fs.FS         // the web page, nil for none
	Build          api.Version   // what /version says
	Warnings       []string      // shown by /healthz, such as an unconfined sandbox
	MaxBody        int64         // bytes of a request body or a frame, default 4 MiB
	PingInterval   time.Duration // of the server's pings on a socket, default 30 s, below 0 off
	IdleTimeout    time.Duration // after which a socket without any sign of life is closed, default 90 s, below 0 never
	ResumeGrace    time.Duration // how long envs outlive their socket, default 30 s
	WriteTimeout   time.Duration // for one frame, default 10 s
	StallTimeout   time.Duration // for a client that does not read its reply, default 1 min
	LargeBytes     int64         // of an owner's large bodies and frames that are under way, default 256 MiB
	QueueFrames    int           // frames that may wait for a slow reader, default 1024
	EventsKept     int           // that a subscription can go back, default 65536
	AllowedOrigins []string      // of browsers on the socket, beside the server's own
	Log            *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.MaxBody <= 0 {
		c.MaxBody = 4 << 20
	}
	if c.PingInterval == 0 {
		c.PingInterval = 30 * time.Second
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 90 * time.Second
	}
	if c.ResumeGrace <= 0 {
		c.ResumeGrace = 30 * time.Second
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 10 * time.Second
	}
	if c.StallTimeout <= 0 {
		c.StallTimeout = time.Minute
	}
	if c.LargeBytes <= 0 {
		c.LargeBytes = max(minAllowance, 4*c.MaxBody)
	}
	if c.QueueFrames <= 0 {
		c.QueueFrames = 1024
	}
	if c.EventsKept <= 0 {
		c.EventsKept = 1 << 16
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
