/*
 * Places the allocations of a run.
 *
 * A planned place is used only if the allocation has the planned size and no block in use overlaps
 * the place; the arena's record of blocks decides. All other allocations get the lowest free place.
 */
#include "run.h"

#include "lists.h"
#include "torch_weights.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * If a run's outputs have no more bytes than this in total, the engine allocates them, so that
 * arenas are free earlier.
 */
enum { FEW_BYTES = 64 << 10 };

/* The elements of a structure: an allocation, an empty one, or the free of a numbered one. */
enum { STEP_ALLOCATION = 1, STEP_EMPTY = 2, STEP_FREE = 3 };

static atomic_uint runs;

static void step(struct djlplan_run *run, uint32_t what) {
    uint32_t hash = (run->structure ^ (what + UINT32_C(0x85EBCA6B))) * UINT32_C(0x9E3779B1);
    hash ^= hash >> 15;
    run->structure = hash == 0 ? 1 : hash;
}

static void free_run(struct djlplan_run *run) {
    if (run->plan != NULL) djlplan_plan_delete(run->plan);
    if (run->escapes != NULL) djlplan_escapes_delete(run->escapes);
    free(run->events);
    free(run);
}

/* Takes the arena, if no other run uses it and it has room for the plan. */
static bool enter(struct djlplan_run *run) {
    struct djlplan_arena *arena = run->arena;
    pthread_mutex_lock(&arena->lock);
    bool enters = arena->weights == NULL && arena->run == NULL &&
                  (run->plan == NULL || djlplan_arena_ensure(arena, run->plan->arena_bytes));
    if (enters) arena->run = run;
    pthread_mutex_unlock(&arena->lock);
    return enters;
}

struct djlplan_run *djlplan_run_begin(struct djlplan_plan *plan, void *address,
                                      struct djlplan_escapes *escapes, int logged) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    struct djlplan_run *run = arena == NULL ? NULL : calloc(1, sizeof *run);
    if (run == NULL) return NULL;
    if (plan != NULL) atomic_fetch_add(&plan->holders, 1);
    if (escapes != NULL) djlplan_escapes_hold(escapes);
    run->thread = pthread_self();
    run->arena = arena;
    run->plan = plan;
    run->escapes = escapes;
    run->logged = logged != 0;
    run->id = atomic_fetch_add(&runs, 1) + 1;
    run->structure = 1;
    run->paused_at = -1;
    run->limit_bytes = INT64_MAX;
    if (enter(run)) return run;
    free_run(run);
    return NULL;
}

void djlplan_run_limit(struct djlplan_run *run, int64_t bytes) {
    pthread_mutex_lock(&run->arena->lock);
    run->limit_bytes = bytes;
    pthread_mutex_unlock(&run->arena->lock);
}

int64_t djlplan_run_needed(const struct djlplan_run *run) {
    pthread_mutex_lock(&run->arena->lock);
    int64_t needed = run->needed_bytes;
    pthread_mutex_unlock(&run->arena->lock);
    return needed;
}

static void note_allocation(struct djlplan_run *run, int number, size_t bytes) {
    if (!run->logged || run->incomplete) return;
    if (number < DJLPLAN_MOST_EVENTS &&
        djlplan_list_ensure(&run->events, number, &run->event_capacity, sizeof *run->events)) {
        run->events[number] = (struct event){(int64_t)bytes, run->clock++, -1};
    } else {
        run->incomplete = true;
    }
}

/* An empty block has no place, whatever was planned. */
static bool is_as_planned(const struct djlplan_run *run, int number, size_t bytes) {
    if (number >= run->plan->count) return false;
    return bytes == (size_t)run->plan->allocations[number].bytes;
}

/* Returns the lowest free place, NULL if there is none or the allocation outlives predictions. */
static char *fit(struct djlplan_run *run, struct djlplan_block *block, size_t bytes) {
    if (bytes == 0) return NULL;
    if (bytes > INT64_MAX / 2 || !djlplan_arena_fit(run->arena, (int64_t)bytes, block)) {
        run->counters[DJLPLAN_OUTSIDE]++;
        return NULL;
    }
    return run->arena->base + block->offset;
}

static void raise_to(int64_t *most, int64_t value) {
    if (value > *most) *most = value;
}

/*
 * Returns whether an allocation is known to outlive predictions: from the plan, or from the
 * structure before it.
 */
static bool escapes(const struct djlplan_run *run, const struct djlplan_block *block,
                    bool planned) {
    if (run->escapes == NULL) return false;
    return planned ? run->plan->allocations[block->number].offset < 0
                   : djlplan_escapes_has(run->escapes, block->structure);
}

/* Returns whether the run may use its arena up to an end. The caller holds the lock. */
static bool is_within(struct djlplan_run *run, int64_t end) {
    raise_to(&run->needed_bytes, end + run->outside_bytes);
    run->refused = end + run->outside_bytes > run->limit_bytes;
    return !run->refused;
}

/* Leaves an allocation to the engine; returns NULL. The caller holds the lock. */
static char *leave_outside(struct djlplan_run *run, size_t bytes) {
    if (bytes > INT64_MAX / 2) return NULL;
    run->outside_bytes += (int64_t)bytes;
    if (!is_within(run, run->counters[DJLPLAN_REACHED])) run->outside_bytes -= (int64_t)bytes;
    return NULL;
}

/*
 * Returns the place of the next allocation, NULL if the engine must allocate it. The caller holds
 * the lock.
 */
static char *take_place(struct djlplan_run *run, size_t bytes) {
    run->refused = false;
    struct djlplan_block block = {.number = run->next, .run = run->id};
    if (run->next < INT_MAX) run->next++;
    if (bytes <= INT64_MAX / 2) run->counters[DJLPLAN_BYTES] += (int64_t)bytes;
    step(run, bytes == 0 ? STEP_EMPTY : STEP_ALLOCATION);
    block.structure = run->structure;
    note_allocation(run, block.number, bytes);
    bool planned = run->plan != NULL && !run->diverged && is_as_planned(run, block.number, bytes);
    if (escapes(run, &block, planned)) {
        /* A block without a run; its free is not part of the prediction. */
        struct djlplan_block kept = {.number = -1, .structure = block.structure};
        char *there = djlplan_escapes_place(run->escapes, bytes, &kept);
        if (there == NULL) return leave_outside(run, bytes);
        raise_to(&run->counters[DJLPLAN_KEPT_REACHED], kept.end);
        return there;
    }
    char *place = NULL;
    if (run->plan == NULL) {
        place = fit(run, &block, bytes);
    } else if (!planned) {
        run->diverged = true;
        run->counters[DJLPLAN_DIVERGED]++;
        block.number = -1; /* not a planned one */
        place = fit(run, &block, bytes);
    } else if (run->plan->allocations[block.number].offset >= 0) {
        block.offset = run->plan->allocations[block.number].offset;
        block.end = block.offset + djlplan_align((int64_t)bytes);
        place = djlplan_arena_claim(run->arena, block) ? run->arena->base + block.offset
                                                       : fit(run, &block, bytes);
    }
    if (place == NULL) return leave_outside(run, bytes);
    if (!is_within(run, block.end)) {
        (void)djlplan_blocks_remove(&run->arena->blocks, block.offset, &block);
        return NULL;
    }
    run->counters[DJLPLAN_PLACED]++;
    run->counters[DJLPLAN_ALIVE]++;
    run->bytes += block.end - block.offset;
    raise_to(&run->counters[DJLPLAN_MOST_BYTES], run->bytes);
    raise_to(&run->counters[DJLPLAN_REACHED], block.end);
    return place;
}

void *djlplan_run_place(struct djlplan_run *run, size_t bytes) {
    pthread_mutex_lock(&run->arena->lock);
    char *place = take_place(run, bytes);
    pthread_mutex_unlock(&run->arena->lock);
    return place;
}

/* The caller holds the lock. */
static void note_free(struct djlplan_run *run, const struct djlplan_block *block) {
    run->counters[DJLPLAN_ALIVE]--;
    run->bytes -= block->end - block->offset;
    bool own = pthread_equal(pthread_self(), run->thread);
    if (own && !run->paused) step(run, STEP_FREE + (uint32_t)block->number);
    if (!run->logged || run->incomplete || block->number < 0) return;
    int64_t now = run->clock++;
    /*
     * The time of a free on another thread varies, so such a block is not planned. After the pause
     * the time does not matter, because there are no more allocations.
     */
    if (run->paused || own) run->events[block->number].freed = now;
}

bool djlplan_run_free(void *address, const struct djlplan_run *during) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL) return false;
    if (arena->weights != NULL) {
        djlplan_weights_free(arena->weights, address);
        return true;
    }
    struct djlplan_block block = {0};
    pthread_mutex_lock(&arena->lock);
    bool known = djlplan_blocks_remove(&arena->blocks, (char *)address - arena->base, &block);
    struct djlplan_run *run = arena->run;
    bool has_ended = run == NULL || run->id != block.run;
    if (known && !has_ended) note_free(run, &block);
    djlplan_arena_leave(arena);
    bool is_state = known && has_ended && during != NULL && during->escapes != NULL;
    if (is_state) djlplan_escapes_leave(during->escapes, block.structure);
    return true;
}

/*
 * Marks the run's blocks in use as escaping, so that later predictions do not place them in an
 * arena of a run.
 */
static void add_escapes(struct djlplan_run *run) {
    struct djlplan_block block = {0};
    if (run->escapes == NULL || run->plan != NULL) return;
    while (djlplan_blocks_after(&run->arena->blocks, block.end, &block)) {
        if (block.run == run->id) djlplan_escapes_add(run->escapes, block.structure);
    }
}

bool djlplan_run_pause(struct djlplan_run *run) {
    pthread_mutex_lock(&run->arena->lock);
    run->paused = true;
    if (run->logged) run->paused_at = run->clock;
    /* Allocations that outlive this run will be outside of the arena in later ones. */
    raise_to(&run->needed_bytes, run->counters[DJLPLAN_REACHED] + run->outside_bytes + run->bytes);
    bool idle = run->counters[DJLPLAN_ALIVE] == 0;
    if (!idle && run->bytes <= FEW_BYTES) add_escapes(run);
    pthread_mutex_unlock(&run->arena->lock);
    return idle && !run->logged;
}

int64_t djlplan_run_events(const struct djlplan_run *run, int64_t *out, int64_t capacity) {
    if (!run->logged) return 0;
    pthread_mutex_lock(&run->arena->lock);
    int64_t written = 0;
    int count = run->incomplete ? 0 : run->next;
    for (int i = 0; i < count && written + DJLPLAN_EVENT_VALUES <= capacity; i++) {
        out[written++] = run->events[i].bytes;
        out[written++] = run->events[i].allocated;
        out[written++] = run->events[i].freed;
    }
    int64_t total = run->incomplete ? -1 : DJLPLAN_EVENT_VALUES * (int64_t)count;
    pthread_mutex_unlock(&run->arena->lock);
    return total;
}

int64_t djlplan_run_paused_at(const struct djlplan_run *run) { return run->paused_at; }

void djlplan_run_finish(struct djlplan_run *run, int64_t *counters) {
    struct djlplan_arena *arena = run->arena;
    pthread_mutex_lock(&arena->lock);
    for (int i = run->next; run->plan != NULL && i < run->plan->count; i++) {
        if (run->plan->allocations[i].offset >= 0) run->counters[DJLPLAN_DIVERGED]++;
    }
    run->counters[DJLPLAN_ALIVE_BYTES] = run->bytes;
    memcpy(counters, run->counters, sizeof run->counters);
    if (counters[DJLPLAN_ALIVE] > 0) add_escapes(run);
    if (arena->run == run) arena->run = NULL;
    djlplan_arena_leave(arena);
    free_run(run);
}
