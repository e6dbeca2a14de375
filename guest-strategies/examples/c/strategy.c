// Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit.
#include <stdlib.h>
#include <string.h>

#include "pure_strategy.h"

// The generated names are long.
#define S(name) exports_baler_compaction_strategy_##name
typedef baler_compaction_history_figures_t figures_t;

static const char SCHEMA[] =
    "{\"type\":\"object\",\"additionalProperties\":false,"
    "\"properties\":{\"units\":{\"type\":\"integer\",\"minimum\":0,\"default\":40,"
    "\"description\":\"How many units to keep at most, beside those that must stay.\"}}}";

// The host has checked the config against the schema, so it is empty, `{}` or has one whole number.
static uint32_t units_of(const pure_strategy_string_t *config) {
    uint64_t number = 0;
    bool any = false;
    for (size_t i = 0; i < config->len; i++) {
        uint8_t c = config->ptr[i];
        if (c < '0' || c > '9') continue;
        any = true;
        number = number * 10 + (c - '0');
        if (number > UINT32_MAX) return UINT32_MAX;
    }
    return any ? (uint32_t)number : 40;
}

// What the limits leave: tokens, bytes, and pictures and other files.
typedef struct {
    int64_t tokens, bytes, media;
} room_t;

static int64_t limit(pure_strategy_option_u32_t most) {
    return most.is_some ? most.val : INT64_MAX;
}

// Subtracts a unit, also one that does not fit. Returns whether all still fits.
static bool take(room_t *room, const figures_t *figures, size_t unit) {
    // The overhead has the tokens of instructions already.
    bool is_overhead = figures->kinds.ptr[unit] == BALER_COMPACTION_HISTORY_UNIT_KIND_INSTRUCTIONS;
    if (!is_overhead) room->tokens -= figures->tokens.ptr[unit];
    room->bytes -= figures->bytes.ptr[unit];
    room->media -= figures->media.ptr[unit];
    return room->tokens >= 0 && room->bytes >= 0 && room->media >= 0;
}

static void *array(size_t count, size_t size) {
    void *memory = malloc(count ? count * size : 1);
    if (!memory) abort();
    return memory;
}

static void one_string(pure_strategy_list_string_t *list, const char *text) {
    list->ptr = array(1, sizeof *list->ptr);
    list->len = 1;
    pure_strategy_string_dup(list->ptr, text);
}

bool S(introspect)(pure_strategy_string_t *maybe_config, S(introspection_t) *ret, S(failure_t) *err) {
    (void)maybe_config;
    (void)err;
    memset(ret, 0, sizeof *ret);
    pure_strategy_string_dup(&ret->name, "keep-newest");
    pure_strategy_string_dup(&ret->version, "0.1.0");
    pure_strategy_string_dup(&ret->description, "Keeps the newest units that fit.");
    pure_strategy_string_dup(&ret->config_schema, SCHEMA);
    one_string(&ret->reason_codes, "old");
    one_string(&ret->metric_names, "removed");
    return true;
}

bool S(should_compact)(S(situation_t) *situation, pure_strategy_string_t *config, S(decision_t) *ret,
                       S(failure_t) *err) {
    (void)situation;
    (void)config;
    (void)err;
    ret->tag = EXPORTS_BALER_COMPACTION_STRATEGY_DECISION_HOST_DECIDES;
    return true;
}

bool S(compact)(S(situation_t) *situation, pure_strategy_string_t *config, S(report_t) *ret, S(failure_t) *err) {
    (void)err;
    figures_t figures;
    baler_compaction_history_units(&figures);
    const size_t units = figures.kinds.len;
    bool *stays = array(units, sizeof *stays);
    room_t room = {
        (int64_t)situation->budget - situation->overhead - situation->opening_note,
        limit(situation->max_bytes),
        limit(situation->max_media),
    };
    for (size_t i = 0; i < units; i++) {
        stays[i] = (figures.traits.ptr[i] & BALER_COMPACTION_HISTORY_TRAITS_PROTECTED) != 0;
        if (stays[i]) take(&room, &figures, i);
    }
    uint32_t left = units_of(config);
    for (size_t i = units; i-- > 0 && left > 0;) {
        if (stays[i]) continue;
        if (!take(&room, &figures, i)) break;
        stays[i] = true;
        left--;
    }

    S(piece_t) *pieces = array(units, sizeof *pieces);
    S(reason_t) *reasons = array(units, sizeof *reasons);
    size_t kept = 0, gone = 0, removed = 0;
    for (size_t first = 0; first < units;) {
        size_t end = first;
        while (end < units && stays[end] == stays[first]) end++;
        S(span_t) span = {(uint32_t)first, (uint32_t)(end - first)};
        if (stays[first]) {
            pieces[kept].tag = EXPORTS_BALER_COMPACTION_STRATEGY_PIECE_KEEP;
            pieces[kept++].val.keep = span;
        } else {
            reasons[gone].units = span;
            pure_strategy_string_dup(&reasons[gone++].code, "old");
            removed += end - first;
        }
        first = end;
    }

    ret->metrics.ptr = array(1, sizeof *ret->metrics.ptr);
    ret->metrics.len = 1;
    pure_strategy_string_dup(&ret->metrics.ptr[0].name, "removed");
    ret->metrics.ptr[0].value.tag = EXPORTS_BALER_COMPACTION_STRATEGY_VALUE_COUNT;
    ret->metrics.ptr[0].value.val.count = (uint32_t)removed;
    if (removed == 0) {
        ret->outcome.tag = EXPORTS_BALER_COMPACTION_STRATEGY_OUTCOME_UNCHANGED;
        pure_strategy_string_dup(&ret->outcome.val.unchanged, "all of it is new enough");
        return true;
    }
    ret->outcome.tag = EXPORTS_BALER_COMPACTION_STRATEGY_OUTCOME_COMPACTED;
    ret->outcome.val.compacted.pieces.ptr = pieces;
    ret->outcome.val.compacted.pieces.len = kept;
    ret->outcome.val.compacted.reasons.ptr = reasons;
    ret->outcome.val.compacted.reasons.len = gone;
    return true;
}
