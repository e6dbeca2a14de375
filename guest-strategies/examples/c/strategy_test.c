// Runs the strategy on this machine, with a conversation of its own. Needs the header that `baler build` makes.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pure_strategy.h"

#define S(name) exports_baler_compaction_strategy_##name
#define NONE {false, 0}
#define SOME(number) {true, number}

// The host's part: what the component imports, and what the bindings add.
static uint8_t kinds[] = {
    BALER_COMPACTION_HISTORY_UNIT_KIND_INSTRUCTIONS, BALER_COMPACTION_HISTORY_UNIT_KIND_USER,
    BALER_COMPACTION_HISTORY_UNIT_KIND_STEP,         BALER_COMPACTION_HISTORY_UNIT_KIND_STEP,
    BALER_COMPACTION_HISTORY_UNIT_KIND_USER,         BALER_COMPACTION_HISTORY_UNIT_KIND_STEP,
};
enum { P = BALER_COMPACTION_HISTORY_TRAITS_PROTECTED, UNITS = 6 };
static uint16_t traits[UNITS] = {P, P, 0, 0, P, 0};
static uint32_t tokens[UNITS] = {50, 20, 300, 200, 10, 100};
static uint32_t bytes[UNITS] = {200, 80, 1200, 800, 40, 400};
static uint32_t media[UNITS] = {0, 0, 0, 1, 0, 0};

void baler_compaction_history_units(baler_compaction_history_figures_t *ret) {
    memset(ret, 0, sizeof *ret);
    ret->kinds.ptr = kinds;
    ret->traits.ptr = traits;
    ret->tokens.ptr = tokens;
    ret->bytes.ptr = bytes;
    ret->media.ptr = media;
    ret->kinds.len = ret->traits.len = ret->tokens.len = ret->bytes.len = ret->media.len = UNITS;
}

void pure_strategy_string_dup(pure_strategy_string_t *ret, const char *text) {
    ret->ptr = (uint8_t *)text;
    ret->len = strlen(text);
}

typedef struct {
    uint32_t budget;
    pure_strategy_option_u32_t max_bytes, max_media;
    const char *config, *want;
} row_t;

// Writes what stays as `first+count `, or why nothing changes.
static void compacted(const row_t *row, char *shown, size_t size) {
    S(situation_t) situation;
    memset(&situation, 0, sizeof situation);
    situation.budget = row->budget;
    situation.overhead = 50;
    situation.max_bytes = row->max_bytes;
    situation.max_media = row->max_media;
    pure_strategy_string_t text;
    pure_strategy_string_dup(&text, row->config);
    S(report_t) report;
    memset(&report, 0, sizeof report);
    S(failure_t) failure;
    shown[0] = 0;
    if (!S(compact)(&situation, &text, &report, &failure)) {
        snprintf(shown, size, "a failure");
    } else if (report.outcome.tag == EXPORTS_BALER_COMPACTION_STRATEGY_OUTCOME_UNCHANGED) {
        snprintf(shown, size, "%.*s", (int)report.outcome.val.unchanged.len, (char *)report.outcome.val.unchanged.ptr);
    } else {
        for (size_t i = 0; i < report.outcome.val.compacted.pieces.len; i++) {
            S(span_t) span = report.outcome.val.compacted.pieces.ptr[i].val.keep;
            size_t used = strlen(shown);
            snprintf(shown + used, size - used, "%u+%u ", (unsigned)span.first, (unsigned)span.count);
        }
    }
}

int main(void) {
    static const row_t rows[] = {
        {380, NONE, NONE, "", "0+2 3+3 "},
        {379, NONE, NONE, "", "0+2 4+2 "},
        {0, NONE, NONE, "", "0+2 4+1 "},
        {10000, SOME(1520), NONE, "", "0+2 3+3 "},
        {10000, SOME(1519), NONE, "", "0+2 4+2 "},
        {10000, NONE, SOME(0), "", "0+2 4+2 "},
        {10000, NONE, NONE, "{\"units\": 1}", "0+2 4+2 "},
        {10000, NONE, NONE, "", "all of it is new enough"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[256];
        compacted(&rows[i], shown, sizeof shown);
        if (strcmp(shown, rows[i].want)) {
            printf("row %d: `%s`, want `%s`\n", (int)i + 1, shown, rows[i].want);
            failed++;
        }
    }
    printf("%d of %d rows failed\n", failed, (int)(sizeof rows / sizeof *rows));
    return failed > 0;
}
