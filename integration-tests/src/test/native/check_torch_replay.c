/* Checks which allocations get their planned place, and arenas whose blocks are kept. */
#define _GNU_SOURCE
#include "check_torch.h"
#include "run.h"

#include <limits.h>

enum { PAGE = 4096, ARENA = 64 * PAGE, NUMBERS = 8, OWN = 99, OTHER = 98 };

struct counts {
    int64_t placed, diverged, alive;
};

static struct djlplan_plan *plan_of(const int64_t (*bytes_and_offsets)[2], int count) {
    int64_t bytes[NUMBERS], offsets[NUMBERS];
    for (int i = 0; i < count; i++) {
        bytes[i] = bytes_and_offsets[i][0];
        offsets[i] = bytes_and_offsets[i][1];
    }
    return djlplan_plan_create(bytes, offsets, count, ARENA);
}

static void check_finish(struct djlplan_run *run, struct counts expected) {
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_PLACED] == expected.placed);
    CHECK(counters[DJLPLAN_DIVERGED] == expected.diverged);
    CHECK(counters[DJLPLAN_ALIVE] == expected.alive);
}

/*
 * Allocates and fills a block, and checks its place: the engine's memory for OWN, anywhere in the
 * arena for OTHER, otherwise this offset.
 */
static torch_data_ptr expect(size_t bytes, const char *arena, int64_t offset) {
    int live = live_blocks();
    torch_data_ptr block = allocate(bytes);
    CHECK(block.data == block.context && block.device_index == TORCH_NO_INDEX);
    bool inside = djlplan_arena_of(block.data) == djlplan_arena_of(arena);
    CHECK(live_blocks() == live + (offset == OWN) && inside == (offset != OWN));
    CHECK(offset == OWN || offset == OTHER || (char *)block.data == arena + offset);
    memset(block.data, 0xAB, bytes);
    return block;
}

static void check_places(char *arena) {
    const int64_t numbers[][2] = {{100, 0}, {0, -1}, {5000, 128}, {100, 0}, {70, -1}, {64, 8192}};
    struct djlplan_plan *plan = plan_of(numbers, 6);
    for (int round = 0; round < 3; round++) {
        struct djlplan_run *run = djlplan_torch_begin(plan, arena, NULL, 0);
        CHECK(run != NULL && djlplan_torch_begin(plan, arena, NULL, 0) == NULL);
        CHECK(djlplan_torch_begin(NULL, arena, NULL, 0) == NULL);
        torch_data_ptr a = expect(100, arena, 0), empty = allocate(0);
        CHECK(empty.data == NULL);
        torch_data_ptr b = expect(5000, arena, 128);
        if (round != 1) release(&a);
        torch_data_ptr c = expect(100, arena, round == 1 ? OTHER : 0);
        torch_data_ptr d = expect(70, arena, OWN);
        if (round == 2) release_elsewhere(&c);
        djlplan_torch_pause();
        torch_data_ptr own = expect(64, arena, OWN);
        release(&own);
        CHECK(djlplan_torch_begin(plan, arena, NULL, 0) == NULL); /* the arena is in use */
        CHECK(djlplan_torch_begin(NULL, arena, NULL, 0) == NULL);
        release(&b);
        release(&c);
        release(&d);
        release(&a);
        check_finish(run, (struct counts){3, 1, 0});
    }
    djlplan_plan_delete(plan);
}

/*
 * Checks places that overlap but begin at different offsets; the plan is deleted while it is used.
 */
static void check_overlaps(char *arena) {
    const int64_t numbers[][2] = {{4160, 4032}, {1, 8128}, {1, 8191 / 64 * 64 + 64}, {64, 3968},
                                  {4096, 0},    {64, 0},   {ARENA - 8256, 8256}};
    struct djlplan_plan *plan = plan_of(numbers, 7);
    struct djlplan_run *run = djlplan_torch_begin(plan, arena, NULL, 0);
    djlplan_plan_delete(plan);
    torch_data_ptr blocks[] = {expect(4160, arena, 4032),        expect(1, arena, 0),
                               expect(1, arena, 8192),           expect(64, arena, 3968),
                               expect(4096, arena, 8256),        expect(64, arena, 64),
                               expect(ARENA - 8256, arena, OWN), expect(1, arena, 128)};
    djlplan_torch_pause();
    for (int i = 0; i < 8; i++) release(&blocks[i]);
    check_finish(run, (struct counts){7, 1, 0});
}

static void check_divergence(char *arena) {
    const int64_t numbers[][2] = {{100, 0}, {200, 128}, {300, 512}, {400, -1}, {500, 1024}};
    struct djlplan_plan *plan = plan_of(numbers, 5);
    struct djlplan_run *run = djlplan_torch_begin(plan, arena, NULL, 0);
    torch_data_ptr a = expect(100, arena, 0), b = expect(201, arena, 128);
    torch_data_ptr c = expect(300, arena, 384);
    CHECK(djlplan_torch_pause() == 0);
    release(&c);
    release(&b);
    release(&a);
    check_finish(run, (struct counts){3, 3, 0});
    djlplan_plan_delete(plan);
    struct djlplan_plan *empty = plan_of(numbers, 0);
    run = djlplan_torch_begin(empty, arena, NULL, 0);
    a = expect(100, arena, 0);
    CHECK(djlplan_torch_pause() == 0);
    release(&a);
    CHECK(djlplan_torch_pause() == 0); /* no run is current */
    finish_elsewhere(run, (int64_t[DJLPLAN_COUNTERS]){0});
    djlplan_plan_delete(empty);
}

/* Checks more allocations than an int can count, after the planned ones. */
static void check_endless(char *arena) {
    const int64_t numbers[][2] = {{100, 0}};
    struct djlplan_plan *plan = plan_of(numbers, 1);
    struct djlplan_run *run = djlplan_torch_begin(plan, arena, NULL, 0);
    torch_data_ptr a = expect(100, arena, 0), b = expect(100, arena, 128);
    run->next = INT_MAX;
    torch_data_ptr c = expect(100, arena, 256), d = expect(100, arena, 384);
    djlplan_torch_pause();
    torch_data_ptr *blocks[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; i++) release(blocks[i]);
    check_finish(run, (struct counts){4, 3, 0});
    djlplan_plan_delete(plan);
}

static int all_bytes(const char *from, size_t bytes, int value) {
    for (size_t i = 0; i < bytes; i++) {
        if (from[i] != (char)value) return 0;
    }
    return 1;
}

/*
 * Checks an arena that is freed while two of its four blocks are in use: other pages are returned,
 * and the arena is unmapped with its last block.
 */
static void check_abandoned(int elsewhere, int raw) {
    const int64_t numbers[][2] = {{100, 64}, {6 * PAGE, PAGE}, {200, 8 * PAGE - 64}, {PAGE, 0}};
    char *arena = djlplan_arena_create(ARENA, 0);
    struct djlplan_plan *plan = plan_of(numbers, 4);
    struct djlplan_run *run = djlplan_torch_begin(plan, arena, NULL, 0);
    void *before = raw ? raw_allocate(100) : NULL;
    torch_data_ptr a = raw ? (torch_data_ptr){0} : expect(100, arena, 64);
    torch_data_ptr b = expect(6 * PAGE, arena, PAGE), c = expect(200, arena, 8 * PAGE - 64);
    djlplan_torch_pause();
    release(&b);
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_ALIVE] == 2 && counters[DJLPLAN_DIVERGED] == 1);
    djlplan_plan_delete(plan);
    djlplan_arena_free(arena); /* only with its last block */
    CHECK(all_bytes(arena + PAGE, 6 * PAGE, 0));
    CHECK(raw || all_bytes(a.data, 100, 0xAB));
    if (raw) raw_deallocate(before);
    if (elsewhere) release_elsewhere(&a);
    release(&a);
    CHECK(all_bytes(c.data, 200, 0xAB) && djlplan_arena_of(arena) != NULL);
    if (elsewhere) release_elsewhere(&c);
    release(&c);
    CHECK(djlplan_arena_of(arena) == NULL);
    char *next = djlplan_arena_create(ARENA, 0);
    CHECK(next != NULL && all_bytes(next, ARENA, 0));
    djlplan_arena_free(next);
}

/* Checks raw blocks: allocated before attaching, freed in a run and after it, and placed ones. */
static void check_raw(char *arena) {
    const int64_t numbers[][2] = {{100, 0}, {200, 128}};
    struct djlplan_plan *plan = plan_of(numbers, 2);
    void *early = raw_allocate(50), *late = raw_allocate(60);
    struct djlplan_run *run = djlplan_torch_begin(plan, arena, NULL, 0);
    void *placed = raw_allocate(100);
    CHECK(placed == arena);
    raw_deallocate(early);
    raw_deallocate(placed);
    placed = raw_allocate(200);
    CHECK(placed == arena + 128);
    djlplan_torch_pause();
    raw_deallocate(placed);
    check_finish(run, (struct counts){2, 0, 0});
    raw_deallocate(late);
    raw_deallocate(arena + 128); /* freed twice; the engine has no block there */
    djlplan_plan_delete(plan);
}

static void refused(int64_t bytes, int64_t offset, int64_t arena_bytes) {
    CHECK(djlplan_plan_create((int64_t[]){64, bytes}, (int64_t[]){0, offset}, 2, arena_bytes) ==
          NULL);
}

static void check_refusals(char *arena) {
    refused(64, 32, ARENA);
    refused(64, ARENA, ARENA);
    refused(65, ARENA - 64, ARENA);
    refused(INT64_MAX, 64, ARENA);
    refused(INT64_MAX, 64, INT64_MAX);
    refused(64, INT64_MAX - 63, INT64_MAX);
    refused(64, INT64_MIN, ARENA);
    refused(64, -64, ARENA);
    refused(0, 64, ARENA);
    refused(-64, 64, ARENA);
    refused(64, 0, 0);
    refused(64, 0, -ARENA);
    CHECK(djlplan_plan_create(NULL, NULL, -1, ARENA) == NULL);
    const int64_t numbers[][2] = {{64, 0}};
    struct djlplan_plan *plan = plan_of(numbers, 1);
    char *small = djlplan_arena_create(ARENA - PAGE, 0), *other = malloc(ARENA);
    CHECK(djlplan_torch_begin(plan, small, NULL, 0) == NULL);
    CHECK(djlplan_torch_begin(plan, other, NULL, 0) == NULL);
    CHECK(djlplan_torch_begin(plan, NULL, NULL, 0) == NULL);
    CHECK(djlplan_torch_begin(plan, arena - 1, NULL, 0) == NULL);
    free(other);
    djlplan_arena_free(small);
    torch_data_ptr block = expect(64, arena, OWN); /* no run has begun */
    release(&block);
    struct djlplan_run *run = djlplan_torch_begin(NULL, arena, NULL, 0);
    CHECK(run != NULL && djlplan_torch_begin(plan, arena, NULL, 0) == NULL);
    djlplan_torch_pause();
    CHECK(djlplan_torch_begin(plan, arena, NULL, 0) == NULL); /* the arena is in use */
    CHECK(djlplan_torch_begin(NULL, arena, NULL, 0) == NULL);
    check_finish(run, (struct counts){0, 0, 0});
    djlplan_plan_delete(plan);
}

void check_replays(void) {
    char *arena = djlplan_arena_create(ARENA, 0);
    CHECK(arena != NULL);
    check_refusals(arena);
    check_places(arena);
    check_overlaps(arena);
    check_divergence(arena);
    check_endless(arena);
    check_raw(arena);
    for (int kind = 0; kind < 4; kind++) check_abandoned(kind % 2, kind / 2);
    djlplan_arena_free(arena);
    CHECK(live_blocks() == 0);
}
