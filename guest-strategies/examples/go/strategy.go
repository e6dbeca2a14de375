// Package export_baler_compaction_strategy keeps what must stay and, of the rest, the newest units: at most
// `units` of them, and no more than fit. The bindings ask for the name of the package.
package export_baler_compaction_strategy

import (
	"encoding/json"
	"fmt"
	"math"

	history "wit_component/baler_compaction_history"
	. "wit_component/baler_compaction_strategy"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

const schema = `{
	"type": "object",
	"additionalProperties": false,
	"properties": {
		"units": {
			"type": "integer",
			"minimum": 0,
			"default": 40,
			"description": "How many units to keep at most, beside those that must stay."
		}
	}
}`

type config struct {
	Units uint32 `json:"units"`
}

func settings(text string) (config, error) {
	set := config{Units: 40}
	if text == "" {
		return set, nil
	}
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		return set, fmt.Errorf("`units` is a whole number, 0 or more: %w", err)
	}
	return set, nil
}

// room is what the limits leave: tokens, bytes, and pictures and other files.
type room struct{ tokens, bytes, media int64 }

func roomOf(situation Situation) room {
	return room{
		tokens: int64(situation.Budget) - int64(situation.Overhead) - int64(situation.OpeningNote),
		bytes:  int64(situation.MaxBytes.SomeOr(math.MaxUint32)),
		media:  int64(situation.MaxMedia.SomeOr(math.MaxUint32)),
	}
}

// take subtracts a unit, also one that does not fit, and says whether all still fits.
func (free *room) take(figures history.Figures, unit int) bool {
	// The overhead has the tokens of instructions already.
	if figures.Kinds[unit] != history.UnitKind_Instructions {
		free.tokens -= int64(figures.Tokens[unit])
	}
	free.bytes -= int64(figures.Bytes[unit])
	free.media -= int64(figures.Media[unit])
	return free.tokens >= 0 && free.bytes >= 0 && free.media >= 0
}

// keep says which units stay.
func keep(figures history.Figures, free room, most uint32) []bool {
	stays := make([]bool, len(figures.Kinds))
	for unit := range stays {
		stays[unit] = figures.Traits[unit]&history.Traits_Protected != 0
		if stays[unit] {
			free.take(figures, unit)
		}
	}
	for unit := len(stays) - 1; unit >= 0 && most > 0; unit-- {
		if stays[unit] {
			continue
		}
		if !free.take(figures, unit) {
			break
		}
		stays[unit] = true
		most--
	}
	return stays
}

func spans(stays []bool, wanted bool) []Span {
	var found []Span
	for first := 0; first < len(stays); {
		end := first
		for end < len(stays) && stays[end] == stays[first] {
			end++
		}
		if stays[first] == wanted {
			found = append(found, Span{First: uint32(first), Count: uint32(end - first)})
		}
		first = end
	}
	return found
}

func Introspect(text wit.Option[string]) wit.Result[Introspection, Failure] {
	if _, err := settings(text.SomeOr("")); err != nil {
		return wit.Err[Introspection](MakeFailureBadConfig(err.Error()))
	}
	return wit.Ok[Introspection, Failure](Introspection{
		Name:         "keep-newest",
		Version:      "0.1.0",
		Description:  "Keeps the newest units that fit.",
		ConfigSchema: schema,
		ReasonCodes:  []string{"old"},
		MetricNames:  []string{"removed"},
		TimeoutMs:    wit.None[uint32](),
		MemoryMib:    wit.None[uint32](),
		Fuel:         wit.None[uint64](),
	})
}

func ShouldCompact(_ Situation, _ string) wit.Result[Decision, Failure] {
	return wit.Ok[Decision, Failure](MakeDecisionHostDecides())
}

func Compact(situation Situation, text string) wit.Result[Report, Failure] {
	set, err := settings(text)
	if err != nil {
		return wit.Err[Report](MakeFailureBadConfig(err.Error()))
	}
	stays := keep(history.Units(), roomOf(situation), set.Units)
	var plan Plan
	for _, span := range spans(stays, true) {
		plan.Pieces = append(plan.Pieces, MakePieceKeep(span))
	}
	var removed uint32
	for _, span := range spans(stays, false) {
		plan.Reasons = append(plan.Reasons, Reason{Units: span, Code: "old"})
		removed += span.Count
	}
	outcome := MakeOutcomeUnchanged("all of it is new enough")
	if removed > 0 {
		outcome = MakeOutcomeCompacted(plan)
	}
	metrics := []Metric{{Name: "removed", Value: MakeValueCount(removed)}}
	return wit.Ok[Report, Failure](Report{Outcome: outcome, Metrics: metrics})
}
