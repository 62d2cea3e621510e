/* Plans: the places of a prediction's allocations. */
#include "run.h"

#include <stdlib.h>

static bool is_valid(struct place place, int64_t arena_bytes) {
    return place.offset == -1 || (place.bytes > 0 && djlplan_place_aligned(place) &&
                                  djlplan_place_within(place, arena_bytes));
}

void djlplan_plan_delete(struct djlplan_plan *plan) {
    if (atomic_fetch_sub(&plan->holders, 1) > 1) return;
    free(plan->allocations);
    free(plan);
}

struct djlplan_plan *djlplan_plan_create(const int64_t *bytes, const int64_t *offsets, int count,
                                         int64_t arena_bytes) {
    if (count < 0) return NULL;
    struct djlplan_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) return NULL;
    atomic_store(&plan->holders, 1);
    plan->count = count;
    plan->arena_bytes = arena_bytes;
    plan->allocations = malloc(((size_t)count + 1) * sizeof *plan->allocations); /* never 0 bytes */
    bool valid = plan->allocations != NULL;
    for (int i = 0; valid && i < count; i++) {
        plan->allocations[i] = (struct place){offsets[i], bytes[i]};
        valid = is_valid(plan->allocations[i], arena_bytes);
    }
    if (valid) return plan;
    djlplan_plan_delete(plan);
    return NULL;
}
