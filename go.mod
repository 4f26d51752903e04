module github.com/proctor-rl/proctor

go 1.26
