/* Checks the counts of passes. The end of a process is tested with a JVM. */
#include "check_torch.h"

enum { ARENA = 1 << 20 };

static struct djlplan_run *begin(void *arena) { return djlplan_torch_begin(NULL, arena, NULL, 0); }

/* Checks counts for runs, nested and rejected runs, and passes without a run. */
void check_exit(void) {
    void *arena = djlplan_arena_create(64, ARENA);
    int64_t counters[DJLPLAN_COUNTERS];
    CHECK(djlplan_torch_passes() == 0);
    CHECK(begin(NULL) == NULL && djlplan_torch_passes() == 0);
    struct djlplan_run *run = begin(arena);
    CHECK(run != NULL && djlplan_torch_passes() == 1);
    CHECK(begin(arena) == NULL && djlplan_torch_passes() == 1);
    djlplan_torch_pass_begin();
    CHECK(djlplan_torch_passes() == 2);
    djlplan_torch_pass_end();
    djlplan_torch_pause();
    CHECK(djlplan_torch_passes() == 0);
    djlplan_torch_pause();
    djlplan_run_finish(run, counters);
    CHECK(djlplan_torch_passes() == 0);
    djlplan_arena_free(arena);
}
