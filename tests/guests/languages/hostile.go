// Package export_baler_compaction_strategy attacks the host as its config says: it loops, recurses, eats memory, or
// panics.
package export_baler_compaction_strategy

import (
	"fmt"
	"strings"

	. "wit_component/baler_compaction_strategy"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

const schema = `{"type":"object","properties":{"attack":{"enum":["loop","recurse","memory","throw"]}}}`

func recurse(depth int) int { return 1 + recurse(depth+1) }

func attack(config string) string {
	switch {
	case strings.Contains(config, "loop"):
		for {
		}
	case strings.Contains(config, "recurse"):
		return fmt.Sprint(recurse(0))
	case strings.Contains(config, "memory"):
		var kept [][]byte
		for {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = 1
			}
			kept = append(kept, block)
		}
	}
	panic("on purpose")
}

func Introspect(_ wit.Option[string]) wit.Result[Introspection, Failure] {
	return wit.Ok[Introspection, Failure](Introspection{
		Name:         "hostile-go",
		Version:      "0.1.0",
		Description:  "Attacks the host that runs it.",
		ConfigSchema: schema,
		TimeoutMs:    wit.None[uint32](),
		MemoryMib:    wit.None[uint32](),
		Fuel:         wit.None[uint64](),
	})
}

func ShouldCompact(_ Situation, _ string) wit.Result[Decision, Failure] {
	return wit.Ok[Decision, Failure](MakeDecisionHostDecides())
}

func Compact(_ Situation, config string) wit.Result[Report, Failure] {
	return wit.Ok[Report, Failure](Report{Outcome: MakeOutcomeUnchanged(attack(config))})
}
