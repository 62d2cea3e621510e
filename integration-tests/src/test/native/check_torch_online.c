/* Checks predictions without a plan: places, records, and blocks that outlive them. */
#define _GNU_SOURCE
#include "check_torch.h"
#include "run.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MANY = 3000, EVENT = 3, MEBI = 1 << 20, SMALL = 100, LARGE = 200 << 10 };

static char *arena;

static struct djlplan_run *begin(void) { return djlplan_torch_begin(NULL, arena, NULL, 1); }

static void check_event(const int64_t *event, int64_t bytes, int64_t allocated, int64_t freed) {
    CHECK(event[0] == bytes && event[1] == allocated && event[2] == freed);
}

/* Returns all memory from an offset on. */
static void trim(void *trimmed, int64_t keep) {
    int64_t below = INT64_MAX;
    while (below >= 0) below = djlplan_arena_trim(trimmed, keep, below);
}

static void finish(struct djlplan_run *run) {
    int64_t counters[DJLPLAN_COUNTERS + 1];
    memset(counters, -1, sizeof counters);
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_DIVERGED] == 0 && counters[DJLPLAN_COUNTERS] == -1);
}

static void *allocate_there(void *unused) {
    (void)unused;
    torch_data_ptr block = allocate(1);
    release(&block);
    return NULL;
}

/*
 * Makes allocations that no run may record: on another thread, and a free of a block from before.
 */
static void allocate_unrecorded(torch_data_ptr *from_before) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, allocate_there, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    release(from_before);
}

static void check_events(void) {
    reuse_blocks(1);
    torch_data_ptr from_before = allocate(7);
    struct djlplan_run *run = begin();
    CHECK(run != NULL && begin() == NULL);
    CHECK(djlplan_run_events(run, NULL, 0) == 0);
    torch_data_ptr a = allocate(100), empty = allocate(0), b = allocate(200);
    allocate_unrecorded(&from_before);
    void *address = a.data;
    release(&a);
    torch_data_ptr again = allocate(100), kept = allocate(300);
    CHECK(again.data == address);
    release_elsewhere(&b);
    void *raw = raw_allocate(400);
    raw_deallocate(raw);
    CHECK(djlplan_run_paused_at(run) == -1);
    CHECK(djlplan_torch_pause() == 0);
    CHECK(djlplan_run_paused_at(run) == 9);
    torch_data_ptr later = allocate(500);
    release_elsewhere(&again); /* recorded, because it is after the pause */
    release(&empty);
    release(&later);
    int64_t events[6 * EVENT + 1];
    memset(events, -1, sizeof events);
    CHECK(djlplan_run_events(run, events, 2 * EVENT + 2) == 6 * EVENT);
    CHECK(events[2 * EVENT] == -1);
    CHECK(djlplan_run_events(run, events, 6 * EVENT + 1) == 6 * EVENT);
    CHECK(events[6 * EVENT] == -1);
    check_event(events, 100, 0, 3);
    check_event(events + EVENT, 0, 1, -1);
    check_event(events + 2 * EVENT, 200, 2, -1);
    check_event(events + 3 * EVENT, 100, 4, 9);
    check_event(events + 4 * EVENT, 300, 5, -1);
    check_event(events + 5 * EVENT, 400, 7, 8);
    finish(run);
    release(&kept);
    reuse_blocks(0);
}

/*
 * Checks more allocations than the list initially holds; every second one is freed, in another
 * order.
 */
static void check_many(void) {
    static torch_data_ptr blocks[MANY];
    static int64_t events[MANY * EVENT];
    struct djlplan_run *run = begin();
    for (int i = 0; i < MANY; i++) blocks[i] = allocate((size_t)i + 1);
    for (int i = MANY - 2; i >= 0; i -= 2) release(&blocks[i]);
    djlplan_torch_pause();
    CHECK(djlplan_run_events(run, events, MANY * EVENT) == MANY * EVENT);
    int64_t time = MANY;
    for (int i = MANY - 1; i >= 0; i--) {
        check_event(events + i * EVENT, i + 1, i, i % 2 == 0 ? time++ : -1);
    }
    finish(run);
    for (int i = 1; i < MANY; i += 2) release(&blocks[i]);
}

/* Checks more allocations than are recorded: then there is no record to plan. */
static void check_too_many(void) {
    struct djlplan_run *run = begin();
    run->next = DJLPLAN_MOST_EVENTS;
    torch_data_ptr block = allocate(1);
    CHECK(djlplan_arena_of(block.data) != NULL);
    release(&block);
    djlplan_torch_pause();
    CHECK(djlplan_run_events(run, NULL, 0) == -1);
    finish(run);
}

static int64_t offset_of(torch_data_ptr block) { return (char *)block.data - arena; }

/* Checks that a block gets the lowest place with room, and that freed neighbours merge. */
static void check_first_fit(void) {
    struct djlplan_run *run = djlplan_torch_begin(NULL, arena, NULL, 0);
    torch_data_ptr a = allocate(64), b = allocate(100), c = allocate(200), d = allocate(64);
    CHECK(offset_of(a) == 0 && offset_of(b) == 64 && offset_of(c) == 192 && offset_of(d) == 448);
    release(&b);
    torch_data_ptr e = allocate(129), f = allocate(128);
    CHECK(offset_of(e) == 512 && offset_of(f) == 64);
    release(&f);
    release_elsewhere(&c);
    f = allocate(384);
    CHECK(offset_of(f) == 64);
    release(&a);
    release(&d);
    release(&e);
    release(&f);
    CHECK(djlplan_torch_pause() == 1);
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_PLACED] == 7 && counters[DJLPLAN_OUTSIDE] == 0);
    CHECK(counters[DJLPLAN_REACHED] == 512 + 192 && counters[DJLPLAN_ALIVE] == 0);
    CHECK(counters[DJLPLAN_MOST_BYTES] == 512 + 192);
}

/*
 * Checks that blocks that outlive runs stay in place, and that the engine makes these allocations
 * in later runs.
 */
static void check_escapes(void) {
    struct djlplan_escapes *escapes = djlplan_escapes_create(NULL);
    char *kept[3] = {0};
    torch_data_ptr blocks[3];
    for (int round = 0; round < 3; round++) {
        struct djlplan_run *run = djlplan_torch_begin(NULL, arena, escapes, 0);
        torch_data_ptr inner = allocate(LARGE);
        memset(inner.data, 0xEE, LARGE);
        /* The last round has another structure. */
        torch_data_ptr more = round == 2 ? allocate(SMALL) : (torch_data_ptr){0};
        blocks[round] = allocate(LARGE);
        kept[round] = blocks[round].data;
        memset(kept[round], round, LARGE);
        release(&inner);
        if (round == 2) release(&more);
        CHECK(djlplan_torch_pause() == (round == 1));
        int64_t counters[DJLPLAN_COUNTERS];
        djlplan_run_finish(run, counters);
        CHECK(counters[DJLPLAN_ALIVE] == (round != 1));
        CHECK((djlplan_arena_of(kept[round]) == NULL) == (round == 1));
    }
    djlplan_escapes_delete(escapes);
    CHECK(djlplan_arena_in_use(arena));
    trim(arena, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < LARGE; i++) CHECK(kept[round][i] == round);
        round == 1 ? release(&blocks[round]) : release_elsewhere(&blocks[round]);
    }
    CHECK(!djlplan_arena_in_use(arena));
}

/* Allocates a block that outlives the run, in the engine's memory or in the arena for outputs. */
static torch_data_ptr predict(struct djlplan_plan *plan, struct djlplan_escapes *escapes,
                              size_t bytes, int64_t *counters) {
    struct djlplan_run *run = djlplan_torch_begin(plan, arena, escapes, 0);
    CHECK(run != NULL);
    torch_data_ptr output = allocate(bytes);
    memset(output.data, 0x11, bytes);
    djlplan_torch_pause();
    djlplan_run_finish(run, counters);
    return output;
}

/*
 * Checks that blocks known to outlive predictions stay in an arena of their own, even after its
 * owner released it, and while other runs may still place blocks there.
 */
static void check_outputs(void) {
    char *outputs = djlplan_arena_create(DJLPLAN_SPARE_BYTES, 8 * MEBI);
    struct djlplan_escapes *escapes = djlplan_escapes_create(outputs);
    int64_t counters[DJLPLAN_COUNTERS];
    torch_data_ptr first = predict(NULL, escapes, LARGE, counters);
    CHECK(djlplan_arena_of(first.data) == djlplan_arena_of(arena));
    CHECK(counters[DJLPLAN_ALIVE] == 1 && counters[DJLPLAN_KEPT_REACHED] == 0);
    torch_data_ptr second = predict(NULL, escapes, LARGE, counters);
    CHECK(second.data == outputs && counters[DJLPLAN_ALIVE] == 0);
    CHECK(counters[DJLPLAN_KEPT_REACHED] == LARGE && counters[DJLPLAN_PLACED] == 0);
    torch_data_ptr few = predict(NULL, escapes, SMALL, counters);
    torch_data_ptr much = predict(NULL, escapes, 9 * MEBI, counters);
    CHECK(djlplan_arena_of(few.data) == NULL && djlplan_arena_of(much.data) == NULL);
    release(&few);
    release(&much);
    const int64_t bytes = LARGE, offset = -1;
    struct djlplan_plan *plan = djlplan_plan_create(&bytes, &offset, 1, LARGE);
    torch_data_ptr third = predict(plan, escapes, LARGE, counters);
    CHECK(third.data == outputs + LARGE && counters[DJLPLAN_ALIVE] == 0);
    release_elsewhere(&second);
    torch_data_ptr fourth = predict(plan, escapes, LARGE, counters);
    CHECK(fourth.data == outputs && counters[DJLPLAN_KEPT_REACHED] == LARGE);
    djlplan_plan_delete(plan);
    release(&fourth);
    struct djlplan_run *run = djlplan_torch_begin(NULL, arena, escapes, 0);
    djlplan_escapes_delete(escapes);
    djlplan_arena_free(outputs);
    for (int i = 0; i < LARGE; i++) CHECK(((char *)third.data)[i] == 0x11);
    release_elsewhere(&third);
    CHECK(djlplan_arena_of(outputs) != NULL);
    torch_data_ptr last = allocate(LARGE);
    CHECK(last.data == outputs);
    djlplan_torch_pause();
    djlplan_run_finish(run, counters);
    CHECK(djlplan_arena_of(outputs) != NULL);
    release_elsewhere(&last);
    CHECK(djlplan_arena_of(outputs) == NULL);
    release(&first);
    CHECK(!djlplan_arena_in_use(arena));
}

/* Checks that the engine allocates small outputs that outlive the pass but not the prediction. */
static void check_few_bytes(void) {
    struct djlplan_escapes *escapes = djlplan_escapes_create(NULL);
    for (int round = 0; round < 2; round++) {
        struct djlplan_run *run = djlplan_torch_begin(NULL, arena, escapes, 0);
        torch_data_ptr output = allocate(SMALL);
        CHECK(djlplan_torch_pause() == round);
        release(&output);
        int64_t counters[DJLPLAN_COUNTERS];
        djlplan_run_finish(run, counters);
        CHECK(counters[DJLPLAN_ALIVE] == 0 && counters[DJLPLAN_PLACED] == 1 - round);
    }
    djlplan_escapes_delete(escapes);
}

static int pages_in_memory(const char *from, int64_t bytes) {
    int found = 0;
    for (int64_t at = 0; at < bytes; at += DJLPLAN_SPARE_BYTES) {
        unsigned char page = 0;
        if (mincore((void *)(uintptr_t)(from + at), 1, &page) == 0) found += page & 1;
    }
    return found;
}

/*
 * Checks that an arena grows up to its limit, after which the engine serves, and that it returns
 * exactly the requested memory.
 */
static void check_growth(void) {
    char *growing = djlplan_arena_create(DJLPLAN_SPARE_BYTES, 8 * MEBI);
    CHECK(growing != NULL && djlplan_arena_of(growing + 4 * MEBI) == NULL);
    struct djlplan_run *run = djlplan_torch_begin(NULL, growing, NULL, 0);
    torch_data_ptr low = allocate(SMALL), middle = allocate(5 * MEBI), high = allocate(MEBI);
    CHECK((char *)high.data > growing + 5 * MEBI && (char *)high.data < growing + 8 * MEBI);
    memset(low.data, 1, SMALL);
    memset(middle.data, 2, 5 * MEBI);
    memset(high.data, 3, MEBI);
    torch_data_ptr none = allocate(2 * MEBI);
    CHECK(djlplan_arena_of(none.data) == NULL);
    release(&none);
    release(&middle);
    djlplan_torch_pause();
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_OUTSIDE] == 1 && counters[DJLPLAN_ALIVE] == 2);
    CHECK(pages_in_memory(growing, 8 * MEBI) >= 6 * MEBI / DJLPLAN_SPARE_BYTES);
    trim(growing, 2 * MEBI);
    int left = pages_in_memory(growing, 8 * MEBI) * DJLPLAN_SPARE_BYTES;
    CHECK(left >= 3 * MEBI && left <= 3 * MEBI + 2 * DJLPLAN_SPARE_BYTES);
    CHECK(((char *)low.data)[SMALL - 1] == 1);
    for (int i = 0; i < MEBI; i++) CHECK(((char *)high.data)[i] == 3);
    release(&high);
    trim(growing, 2 * MEBI);
    trim(growing, 0);
    CHECK(pages_in_memory(growing, 8 * MEBI) == 1);
    djlplan_arena_free(growing);
    CHECK(djlplan_arena_of(growing) != NULL && ((char *)low.data)[0] == 1);
    release_elsewhere(&low);
    CHECK(djlplan_arena_of(growing) == NULL);
}

/* Checks that an allocation beyond a run's limit has no place, and that later ones have theirs. */
static void check_limit(void) {
    struct djlplan_run *run = djlplan_torch_begin(NULL, arena, NULL, 0);
    djlplan_run_limit(run, 2 * LARGE);
    char *low = djlplan_run_place(run, LARGE);
    CHECK(low != NULL && !run->refused && djlplan_run_needed(run) == LARGE);
    CHECK(djlplan_run_place(run, 2 * LARGE) == NULL && run->refused);
    CHECK(djlplan_run_needed(run) == 3 * LARGE);
    char *high = djlplan_run_place(run, LARGE);
    CHECK(high == low + LARGE && !run->refused);
    CHECK(djlplan_run_place(run, 1) == NULL && run->refused);
    CHECK(djlplan_run_free(low, NULL) && djlplan_run_free(high, NULL));
    CHECK(djlplan_torch_pause() == 1);
    finish(run);
}

/* Returns the bytes of address space that this process has mapped. */
static size_t mapped_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;
    CHECK(file != NULL && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Checks that an arena reserves fewer addresses if addresses are limited, or fails. */
static void check_few_addresses(void) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    const int64_t most = INT64_C(1) << 46;
    char *growing = djlplan_arena_create(MEBI, most);
    CHECK(growing != NULL);
    CHECK((int64_t)djlplan_arena_of(growing)->most_bytes <= most);
    CHECK(djlplan_arena_grow(growing, 3 * MEBI) >= 3 * MEBI &&
          djlplan_arena_grow(growing, -1) == -1);
    memset(growing, 1, 3 * MEBI);
    CHECK(djlplan_arena_grow(growing, INT64_C(1) << 47) == -1);
    djlplan_arena_free(growing);
    rlim_t few = (rlim_t)mapped_bytes() + 256 * MEBI;
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){few, limit.rlim_max}) == 0);
    growing = djlplan_arena_create(MEBI, INT64_C(1) << 40);
    CHECK(djlplan_arena_create(512 * MEBI, 0) == NULL);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK(growing != NULL && djlplan_arena_of(&limit) == NULL);
    CHECK(djlplan_arena_of((void *)UINTPTR_MAX) == NULL);
    size_t reserved = djlplan_arena_of(growing)->most_bytes;
    CHECK(reserved >= 64 * MEBI && reserved <= 256 * MEBI);
    djlplan_arena_free(growing);
}

void check_online(void) {
    arena = djlplan_arena_create(MEBI, 64 * MEBI);
    CHECK(arena != NULL);
    check_events();
    check_many();
    check_too_many();
    check_first_fit();
    check_escapes();
    check_outputs();
    check_few_bytes();
    check_growth();
    check_limit();
    check_few_addresses();
    djlplan_arena_free(arena);
    CHECK(live_blocks() == 0);
}
