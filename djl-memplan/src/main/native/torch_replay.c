/*
 * Gives the allocations of a run their planned places.
 *
 * A place is used only when the allocation is as large as planned, or smaller in a run that may use
 * the plan of a larger one, and no block in use overlaps it: the arena's own record of what is in
 * use decides, not the plan.
 */
#include "torch_run.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t plans_lock = PTHREAD_MUTEX_INITIALIZER;

static int by_offset(const void *a, const void *b) {
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

/* The slot with an offset, −1 if there is none. */
static int find_slot(const struct djlplan_torch_plan *plan, int64_t offset) {
    const int64_t *found = plan->slots == 0 ? NULL
                                            : bsearch(&offset, plan->offsets, (size_t)plan->slots,
                                                      sizeof offset, by_offset);
    return found == NULL ? -1 : (int)(found - plan->offsets);
}

/* Collects the distinct offsets, sorted, and gives every allocation its slot. */
static void make_slots(struct djlplan_torch_plan *plan) {
    int count = 0;
    for (int i = 0; i < plan->count; i++) {
        int64_t offset = plan->allocations[i].place.offset;
        if (offset >= 0) plan->offsets[count++] = offset;
    }
    qsort(plan->offsets, (size_t)count, sizeof *plan->offsets, by_offset);
    for (int i = 0; i < count; i++) {
        if (i == 0 || plan->offsets[i] != plan->offsets[plan->slots - 1]) {
            plan->offsets[plan->slots++] = plan->offsets[i];
        }
    }
    for (int i = 0; i < plan->count; i++) {
        struct planned_allocation *allocation = &plan->allocations[i];
        int64_t offset = allocation->place.offset;
        allocation->slot = offset < 0 ? -1 : find_slot(plan, offset);
    }
}

static bool is_valid(struct place place, int64_t arena_bytes) {
    return place.offset == -1 || (place.bytes > 0 && djlplan_place_aligned(place) &&
                                  djlplan_place_within(place, arena_bytes));
}

static void drop_plan(struct djlplan_torch_plan *plan) {
    pthread_mutex_lock(&plans_lock);
    int holders = --plan->holders;
    pthread_mutex_unlock(&plans_lock);
    if (holders > 0) return;
    free(plan->allocations);
    free(plan->offsets);
    free(plan);
}

struct djlplan_torch_plan *djlplan_torch_plan_create(const int64_t *bytes, const int64_t *offsets,
                                                     int count, int64_t arena_bytes) {
    if (count < 0) return NULL;
    struct djlplan_torch_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) return NULL;
    size_t entries = (size_t)count + 1; /* never none */
    plan->holders = 1;
    plan->count = count;
    plan->arena_bytes = arena_bytes;
    plan->allocations = malloc(entries * sizeof *plan->allocations);
    plan->offsets = malloc(entries * sizeof *plan->offsets);
    bool valid = plan->allocations != NULL && plan->offsets != NULL;
    for (int i = 0; valid && i < count; i++) {
        struct place place = {offsets[i], bytes[i]};
        plan->allocations[i].place = place;
        valid = is_valid(place, arena_bytes);
    }
    if (!valid) {
        drop_plan(plan);
        return NULL;
    }
    make_slots(plan);
    return plan;
}

void djlplan_torch_plan_delete(struct djlplan_torch_plan *plan) { drop_plan(plan); }

static void free_run(struct djlplan_torch_run *run) {
    drop_plan(run->replay.plan);
    pthread_mutex_destroy(&run->replay.lock);
    free(run->replay.residents);
    free(run);
}

struct djlplan_torch_run *djlplan_replay_begin(struct djlplan_torch_plan *plan, void *address,
                                               bool at_most) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL || (int64_t)arena->bytes < plan->arena_bytes) return NULL;
    struct djlplan_torch_run *run = calloc(1, sizeof *run);
    int *residents = malloc((size_t)(plan->slots + 1) * sizeof *residents);
    if (run == NULL || residents == NULL) {
        free(run);
        free(residents);
        return NULL;
    }
    for (int i = 0; i < plan->slots; i++) residents[i] = -1;
    pthread_mutex_lock(&plans_lock);
    plan->holders++;
    pthread_mutex_unlock(&plans_lock);
    run->kind = RUN_REPLAYS;
    pthread_mutex_init(&run->replay.lock, NULL);
    run->replay.plan = plan;
    run->replay.at_most = at_most;
    run->replay.residents = residents;
    run->replay.arena = arena;
    struct djlplan_torch_run *none = NULL;
    if (!atomic_compare_exchange_strong(&arena->run, &none, run)) {
        free_run(run);
        return NULL;
    }
    return run;
}

/* An empty block has no place, whatever was planned. */
static bool fits(const struct replay *replay, size_t bytes, int64_t planned) {
    return bytes == (size_t)planned || (replay->at_most && bytes > 0 && bytes < (size_t)planned);
}

/*
 * The place of the next allocation, which it takes, or NULL if it has none or may not have it. The
 * caller holds the run's lock.
 */
static const struct place *take_place(struct replay *replay, size_t bytes) {
    const struct djlplan_torch_plan *plan = replay->plan;
    int number = replay->next;
    if (number < plan->count) replay->next++;
    if (replay->diverged || number >= plan->count ||
        !fits(replay, bytes, plan->allocations[number].place.bytes)) {
        replay->diverged = true;
        replay->counters[DJLPLAN_DIVERGED]++;
        return NULL;
    }
    const struct planned_allocation *allocation = &plan->allocations[number];
    if (allocation->slot < 0) return NULL;
    if (!djlplan_arena_claim(replay->arena, allocation->place)) {
        replay->counters[DJLPLAN_REFUSED]++;
        return NULL;
    }
    replay->residents[allocation->slot] = number;
    replay->counters[DJLPLAN_PLACED]++;
    replay->counters[DJLPLAN_ALIVE]++;
    return &allocation->place;
}

torch_data_ptr djlplan_replay_allocate(struct djlplan_torch_run *run, size_t bytes) {
    struct replay *replay = &run->replay;
    pthread_mutex_lock(&replay->lock);
    const struct place *place = take_place(replay, bytes);
    pthread_mutex_unlock(&replay->lock);
    return place == NULL ? djlplan_torch_engine_allocate(bytes)
                         : djlplan_torch_block(replay->arena->base + place->offset);
}

/* Frees what a finished run left behind, when nothing is in it any more. */
static void free_abandoned(struct djlplan_torch_run *run) {
    void *base = run->replay.arena->base;
    free_run(run);
    djlplan_arena_free(base);
}

/*
 * Gives the place of the block at an offset back; one that begins at no slot is none of ours.
 * Returns whether it was the last of a finished run. The caller holds the run's lock.
 */
static bool release(struct replay *replay, int64_t offset) {
    int slot = find_slot(replay->plan, offset);
    if (slot < 0 || replay->residents[slot] < 0) return false;
    djlplan_arena_release(replay->arena, replay->plan->allocations[replay->residents[slot]].place);
    replay->residents[slot] = -1;
    replay->counters[DJLPLAN_ALIVE]--;
    return replay->finished && replay->counters[DJLPLAN_ALIVE] == 0;
}

bool djlplan_replay_free(void *block) {
    struct djlplan_arena *arena = djlplan_arena_of(block);
    if (arena == NULL) return false;
    /* A block in use keeps its run and its arena alive: neither changes before we are done. */
    struct djlplan_torch_run *run = atomic_load(&arena->run);
    if (run == NULL) {
        if (arena->weights != NULL) djlplan_weights_free(arena->weights, block);
        return true;
    }
    pthread_mutex_lock(&run->replay.lock);
    bool last = release(&run->replay, (char *)block - arena->base);
    pthread_mutex_unlock(&run->replay.lock);
    if (last) free_abandoned(run);
    return true;
}

int64_t djlplan_replay_alive(struct djlplan_torch_run *run) {
    pthread_mutex_lock(&run->replay.lock);
    int64_t alive = run->replay.counters[DJLPLAN_ALIVE];
    pthread_mutex_unlock(&run->replay.lock);
    return alive;
}

/* The caller holds the run's lock. */
static void write_alive(const struct replay *replay, int32_t *alive, int capacity) {
    int written = 0;
    for (int i = 0; i < replay->plan->slots && written < capacity; i++) {
        if (replay->residents[i] >= 0) alive[written++] = replay->residents[i];
    }
}

void djlplan_replay_finish(struct djlplan_torch_run *run, int64_t *counters, int32_t *alive,
                           int capacity) {
    struct replay *replay = &run->replay;
    pthread_mutex_lock(&replay->lock);
    for (int i = replay->next; i < replay->plan->count; i++) {
        if (replay->plan->allocations[i].slot >= 0) replay->counters[DJLPLAN_MISSING]++;
    }
    memcpy(counters, replay->counters, sizeof replay->counters);
    write_alive(replay, alive, capacity);
    bool idle = counters[DJLPLAN_ALIVE] == 0;
    replay->finished = true;
    if (idle) {
        atomic_store(&replay->arena->run, NULL);
    } else {
        djlplan_arena_trim(replay->arena);
    }
    pthread_mutex_unlock(&replay->lock);
    if (idle) free_run(run);
}
