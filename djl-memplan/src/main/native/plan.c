/* Plans: the places of a prediction's allocations. */
#include "run.h"

#include <stdlib.h>

static pthread_mutex_t plans_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_valid(struct place place, int64_t arena_bytes) {
    return place.offset == -1 || (place.bytes > 0 && djlplan_place_aligned(place) &&
                                  djlplan_place_within(place, arena_bytes));
}

void djlplan_plan_delete(struct djlplan_plan *plan) {
    pthread_mutex_lock(&plans_lock);
    int holders = --plan->holders;
    pthread_mutex_unlock(&plans_lock);
    if (holders > 0) return;
    free(plan->allocations);
    free(plan);
}

void djlplan_plan_hold(struct djlplan_plan *plan) {
    pthread_mutex_lock(&plans_lock);
    plan->holders++;
    pthread_mutex_unlock(&plans_lock);
}

struct djlplan_plan *djlplan_plan_create(const int64_t *bytes, const int64_t *offsets, int count,
                                         int64_t arena_bytes) {
    if (count < 0) return NULL;
    struct djlplan_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) return NULL;
    plan->holders = 1;
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
