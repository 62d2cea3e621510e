/*
 * Gives the allocations of a run their planned places.
 *
 * A place is used only when the allocation is as large as planned and no block in use overlaps it:
 * the arena's own record of what is in use decides, not the plan.
 */
#include "arena.h"
#include "torch_run.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t plans_lock = PTHREAD_MUTEX_INITIALIZER;

static int by_offset(const void *a, const void *b) {
    int64_t first = ((const struct place *)a)->offset, second = ((const struct place *)b)->offset;
    return (first > second) - (first < second);
}

/* The index of the place with an offset, −1 if there is none. */
static int find_place(const struct place *places, int count, int64_t offset) {
    struct place key = {offset, -1};
    struct place *found =
        count == 0 ? NULL : bsearch(&key, places, (size_t)count, sizeof key, by_offset);
    return found == NULL ? -1 : (int)(found - places);
}

/* Collects the distinct offsets, sorted. */
static void sort_places(struct djlplan_torch_plan *plan, const int64_t *offsets) {
    int count = 0;
    for (int i = 0; i < plan->count; i++) {
        if (offsets[i] >= 0) plan->sorted[count++] = (struct place){offsets[i], -1};
    }
    qsort(plan->sorted, (size_t)count, sizeof *plan->sorted, by_offset);
    for (int i = 0; i < count; i++) {
        if (i == 0 || plan->sorted[i].offset != plan->sorted[plan->places - 1].offset) {
            plan->sorted[plan->places++] = plan->sorted[i];
        }
    }
    for (int i = 0; i < plan->count; i++) {
        plan->place[i] =
            offsets[i] < 0 ? -1 : find_place(plan->sorted, plan->places, offsets[i]);
    }
}

static int fits(int64_t bytes, int64_t offset, int64_t arena_bytes) {
    return offset == -1 || (bytes > 0 && offset >= 0 && offset % DJLPLAN_GRANULE == 0 && offset < arena_bytes &&
                          bytes <= arena_bytes - offset);
}

static void drop_plan(struct djlplan_torch_plan *plan) {
    pthread_mutex_lock(&plans_lock);
    int holders = --plan->holders;
    pthread_mutex_unlock(&plans_lock);
    if (holders > 0) return;
    free(plan->bytes);
    free(plan->place);
    free(plan->sorted);
    free(plan);
}

struct djlplan_torch_plan *djlplan_torch_plan_create(const int64_t *bytes, const int64_t *offsets,
                                                     int count, int64_t arena_bytes) {
    if (count < 0) return NULL;
    for (int i = 0; i < count; i++) {
        if (!fits(bytes[i], offsets[i], arena_bytes)) return NULL;
    }
    struct djlplan_torch_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) return NULL;
    size_t entries = (size_t)count + 1; /* never none */
    plan->holders = 1;
    plan->count = count;
    plan->arena_bytes = arena_bytes;
    plan->bytes = malloc(entries * sizeof *plan->bytes);
    plan->place = malloc(entries * sizeof *plan->place);
    plan->sorted = malloc(entries * sizeof *plan->sorted);
    if (plan->bytes == NULL || plan->place == NULL || plan->sorted == NULL) {
        drop_plan(plan);
        return NULL;
    }
    memcpy(plan->bytes, bytes, (size_t)count * sizeof *bytes);
    sort_places(plan, offsets);
    return plan;
}

void djlplan_torch_plan_delete(struct djlplan_torch_plan *plan) { drop_plan(plan); }

static void free_run(struct djlplan_torch_run *run) {
    drop_plan(run->plan);
    pthread_mutex_destroy(&run->lock);
    free(run->places);
    free(run);
}

struct djlplan_torch_run *djlplan_replay_begin(struct djlplan_torch_plan *plan, void *address) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL || (int64_t)arena->bytes < plan->arena_bytes) return NULL;
    struct djlplan_torch_run *run = calloc(1, sizeof *run);
    size_t bytes = (size_t)(plan->places + 1) * sizeof *run->places;
    struct place *places = malloc(bytes);
    if (run == NULL || places == NULL) {
        free(run);
        free(places);
        return NULL;
    }
    pthread_mutex_lock(&plans_lock);
    plan->holders++;
    pthread_mutex_unlock(&plans_lock);
    memcpy(places, plan->sorted, (size_t)plan->places * sizeof *places);
    pthread_mutex_init(&run->lock, NULL);
    run->plan = plan;
    run->places = places;
    run->arena = arena;
    struct djlplan_torch_run *none = NULL;
    if (!atomic_compare_exchange_strong(&arena->run, &none, run)) {
        free_run(run);
        return NULL;
    }
    return run;
}

/* Whether the next allocation may have its place; takes it. The caller holds the lock. */
static struct place *take_place(struct djlplan_torch_run *run, size_t bytes) {
    const struct djlplan_torch_plan *plan = run->plan;
    int number = run->next;
    if (number < plan->count) run->next++;
    if (run->diverged || number >= plan->count || plan->bytes[number] != (int64_t)bytes) {
        run->diverged = 1;
        run->counters[DJLPLAN_DIVERGED]++;
        return NULL;
    }
    if (plan->place[number] < 0) return NULL;
    struct place *place = &run->places[plan->place[number]];
    if (!djlplan_arena_claim(run->arena, (size_t)place->offset, bytes)) {
        run->counters[DJLPLAN_REFUSED]++;
        return NULL;
    }
    place->resident = number;
    run->counters[DJLPLAN_PLACED]++;
    run->counters[DJLPLAN_ALIVE]++;
    return place;
}

torch_data_ptr djlplan_replay_allocate(struct djlplan_torch_run *run, size_t bytes) {
    pthread_mutex_lock(&run->lock);
    struct place *place = take_place(run, bytes);
    pthread_mutex_unlock(&run->lock);
    if (place == NULL) return djlplan_torch_engine_allocate(bytes);
    void *block = run->arena->base + place->offset;
    return (torch_data_ptr){block, djlplan_torch_free, block, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
}

/* Frees what a finished run left behind, when nothing is in it any more. */
static void free_abandoned(struct djlplan_torch_run *run) {
    void *base = run->arena->base;
    free_run(run);
    djlplan_arena_free(base);
}

int djlplan_replay_free(void *block) {
    struct djlplan_arena *arena = djlplan_arena_of(block);
    if (arena == NULL) return 0;
    /* A block in use keeps its run and its arena alive: neither changes before we are done. */
    struct djlplan_torch_run *run = atomic_load(&arena->run);
    if (run == NULL) return 1;
    pthread_mutex_lock(&run->lock);
    int index = find_place(run->places, run->plan->places, (char *)block - arena->base);
    struct place *place = index < 0 ? NULL : &run->places[index];
    int ours = place != NULL && place->resident >= 0;
    if (ours) {
        djlplan_arena_release(arena, (size_t)place->offset,
                              (size_t)run->plan->bytes[place->resident]);
        place->resident = -1;
        run->counters[DJLPLAN_ALIVE]--;
    }
    int last = ours && run->finished && run->counters[DJLPLAN_ALIVE] == 0;
    pthread_mutex_unlock(&run->lock);
    if (last) free_abandoned(run);
    return 1;
}

int64_t djlplan_replay_alive(struct djlplan_torch_run *run) {
    pthread_mutex_lock(&run->lock);
    int64_t alive = run->counters[DJLPLAN_ALIVE];
    pthread_mutex_unlock(&run->lock);
    return alive;
}

static void write_alive(const struct djlplan_torch_run *run, int32_t *alive, int capacity) {
    int written = 0;
    for (int i = 0; i < run->plan->places && written < capacity; i++) {
        if (run->places[i].resident >= 0) alive[written++] = run->places[i].resident;
    }
}

void djlplan_replay_finish(struct djlplan_torch_run *run, int64_t *counters, int32_t *alive,
                           int capacity) {
    pthread_mutex_lock(&run->lock);
    for (int i = run->next; i < run->plan->count; i++) {
        if (run->plan->place[i] >= 0) run->counters[DJLPLAN_MISSING]++;
    }
    memcpy(counters, run->counters, sizeof run->counters);
    write_alive(run, alive, capacity);
    int idle = counters[DJLPLAN_ALIVE] == 0;
    run->finished = 1;
    if (idle) {
        atomic_store(&run->arena->run, NULL);
    } else {
        djlplan_arena_trim(run->arena);
    }
    pthread_mutex_unlock(&run->lock);
    if (idle) free_run(run);
}
