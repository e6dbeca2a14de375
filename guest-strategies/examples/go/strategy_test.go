package export_baler_compaction_strategy

import (
	"slices"
	"testing"

	history "wit_component/baler_compaction_history"
)

var harbour = history.Figures{
	Kinds: []history.UnitKind{
		history.UnitKind_Instructions, history.UnitKind_User, history.UnitKind_Step,
		history.UnitKind_Step, history.UnitKind_User, history.UnitKind_Step,
	},
	Traits: []history.Traits{history.Traits_Protected, history.Traits_Protected, 0, 0, history.Traits_Protected, 0},
	Tokens: []uint32{50, 20, 300, 200, 10, 100},
	Bytes:  []uint32{200, 80, 1200, 800, 40, 400},
	Media:  []uint32{0, 0, 0, 1, 0, 0},
}

func TestKeepsWhatMustStayAndTheNewestThatFit(t *testing.T) {
	for _, row := range []struct {
		free room
		most uint32
		want []bool
	}{
		{room{330, 10_000, 10}, 40, []bool{true, true, false, true, true, true}},
		{room{329, 10_000, 10}, 40, []bool{true, true, false, false, true, true}},
		{room{0, 10_000, 10}, 40, []bool{true, true, false, false, true, false}},
		{room{10_000, 1520, 10}, 40, []bool{true, true, false, true, true, true}},
		{room{10_000, 1519, 10}, 40, []bool{true, true, false, false, true, true}},
		{room{10_000, 10_000, 0}, 40, []bool{true, true, false, false, true, true}},
		{room{10_000, 10_000, 10}, 1, []bool{true, true, false, false, true, true}},
		{room{10_000, 10_000, 10}, 40, []bool{true, true, true, true, true, true}},
	} {
		if stays := keep(harbour, row.free, row.most); !slices.Equal(stays, row.want) {
			t.Errorf("free %v, most %d: %v, want %v", row.free, row.most, stays, row.want)
		}
	}
}

func TestSaysOfAConfigWhatIsWrong(t *testing.T) {
	for _, text := range []string{`{"units": -1}`, `{"units": "two"}`, `[`} {
		if _, err := settings(text); err == nil {
			t.Errorf("%s: taken", text)
		}
	}
	if set, err := settings(`{"units": 7}`); err != nil || set.Units != 7 {
		t.Errorf("%v, %v", set, err)
	}
	if set, err := settings(""); err != nil || set.Units != 40 {
		t.Errorf("%v, %v", set, err)
	}
}
