// Package react is the environment of the ReAct loop: an agent answers a
// question with search[...], lookup[...], calculator[...] and finish[...],
// written as Thought/Action text or as OpenAI tool calls.
//
// One implementation serves several environment types by options: a generated
// world in prose or in compact lines, a smaller mix of questions, an almanac of
// real countries. The reward is 1 for the exact typed answer and 0 otherwise;
// an optional capped process part exists for experiments and is off unless a
// type's name says so. The package starts no process and opens no connection:
// a query is a query whatever it looks like. envs/all registers its types.
package react
