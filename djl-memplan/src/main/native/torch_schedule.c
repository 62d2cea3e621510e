/* Schedules, which are immutable: at which step each piece of the weights is loaded or dropped. */
#include "torch_weights.h"

#include <stdlib.h>

void djlplan_schedule_delete(struct djlplan_schedule *schedule) {
    if (schedule == NULL || atomic_fetch_sub(&schedule->holders, 1) > 1) return;
    free(schedule->bytes);
    free(schedule->needs);
    free(schedule->action);
    free(schedule);
}

/*
 * Returns whether the schedule cannot deadlock: no step waits for an action that waits for this
 * step or a later one.
 */
static bool ends(const struct djlplan_schedule *schedule) {
    int done = 0, latest = 0;
    for (int step = 0; step < schedule->steps; step++) {
        if (schedule->needs[step] < 0 || schedule->needs[step] > schedule->actions) return false;
        for (; done < schedule->needs[step]; done++) {
            if (schedule->action[done].after > latest) latest = schedule->action[done].after;
        }
        if (schedule->needs[step] > 0 && latest > step) return false;
    }
    return true;
}

struct djlplan_schedule *djlplan_schedule_create(const int64_t *bytes, const int32_t *needs,
                                                 int steps, const int32_t *actions, int count) {
    struct djlplan_schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL) return NULL;
    *schedule =
        (struct djlplan_schedule){.holders = 1,
                                  .steps = steps,
                                  .bytes = malloc(((size_t)steps + 1) * sizeof *schedule->bytes),
                                  .needs = malloc(((size_t)steps + 1) * sizeof *schedule->needs),
                                  .actions = count,
                                  .action = malloc(((size_t)count + 1) * sizeof *schedule->action)};
    bool made = schedule->bytes != NULL && schedule->needs != NULL && schedule->action != NULL;
    for (int i = 0; made && i < steps; i++) {
        schedule->bytes[i] = bytes[i];
        schedule->needs[i] = needs[i];
    }
    for (int i = 0; made && i < count; i++) {
        const int32_t *values = actions + DJLPLAN_ACTION_VALUES * (size_t)i;
        schedule->action[i] = (struct action){values[0], (enum djlplan_action)values[1], values[2]};
    }
    if (made && ends(schedule)) return schedule;
    djlplan_schedule_delete(schedule);
    return NULL;
}
