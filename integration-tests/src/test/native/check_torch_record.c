/* What is recorded of a prediction. */
#define _DEFAULT_SOURCE
#include "check_torch.h"
#include "torch_run.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

enum { MANY = 3000, EVENT = 3, LARGE = 200 << 10 };

static void check_event(const int64_t *event, int64_t bytes, int64_t allocated, int64_t freed) {
    CHECK(event[0] == bytes && event[1] == allocated && event[2] == freed);
}

static void finish(struct djlplan_torch_run *run) {
    int64_t counters[DJLPLAN_COUNTERS + 1];
    memset(counters, -1, sizeof counters);
    djlplan_torch_finish(run, counters, NULL, 0);
    for (int i = 0; i < DJLPLAN_COUNTERS; i++) CHECK(counters[i] == 0);
    CHECK(counters[DJLPLAN_COUNTERS] == -1);
}

static void *allocate_there(void *unused) {
    (void)unused;
    torch_data_ptr block = allocate(1);
    release(&block);
    return NULL;
}

/* Nothing of this is anyone's to record: another thread, and a block from before. */
static void allocate_unrecorded(torch_data_ptr *from_before) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, allocate_there, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    release(from_before);
}

static void check_events(void) {
    reuse_blocks(1);
    torch_data_ptr from_before = allocate(7);
    struct djlplan_torch_run *run = djlplan_torch_record();
    CHECK(run != NULL && djlplan_torch_record() == NULL);
    CHECK(djlplan_torch_events(run, NULL, 0) == 0);
    torch_data_ptr a = allocate(100), empty = allocate(0), b = allocate(200);
    allocate_unrecorded(&from_before);
    void *address = a.data;
    release(&a);
    torch_data_ptr again = allocate(100), kept = allocate(300);
    CHECK(again.data == address);
    release_elsewhere(&b);
    void *raw = raw_allocate(400);
    raw_deallocate(raw);
    CHECK(djlplan_torch_paused_at(run) == -1);
    CHECK(djlplan_torch_pause() == 0);
    CHECK(djlplan_torch_paused_at(run) == 9);
    torch_data_ptr later = allocate(500);
    release_elsewhere(&again); /* after the pause it counts */
    release(&empty);
    release(&later);
    int64_t events[6 * EVENT + 1];
    memset(events, -1, sizeof events);
    CHECK(djlplan_torch_events(run, events, 2 * EVENT + 2) == 6 * EVENT);
    CHECK(events[2 * EVENT] == -1);
    CHECK(djlplan_torch_events(run, events, 6 * EVENT + 1) == 6 * EVENT);
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

/* More than the list has room for at first; every second one is freed, in another order. */
static void check_many(void) {
    static torch_data_ptr blocks[MANY];
    static int64_t events[MANY * EVENT];
    struct djlplan_torch_run *run = djlplan_torch_record();
    for (int i = 0; i < MANY; i++) blocks[i] = allocate((size_t)i + 1);
    for (int i = MANY - 2; i >= 0; i -= 2) release(&blocks[i]);
    djlplan_torch_pause();
    CHECK(djlplan_torch_events(run, events, MANY * EVENT) == MANY * EVENT);
    int64_t time = MANY;
    for (int i = MANY - 1; i >= 0; i--) {
        check_event(events + i * EVENT, i + 1, i, i % 2 == 0 ? time++ : -1);
    }
    finish(run);
    for (int i = 1; i < MANY; i += 2) release(&blocks[i]);
}

/* A list as long as an int can say does not grow: what comes after that is not recorded. */
static void check_too_many(void) {
    struct djlplan_torch_run *run = djlplan_torch_record();
    struct recording *recording = &run->recording;
    recording->count = recording->capacity = INT_MAX / 2 + 1;
    torch_data_ptr block = allocate(1);
    djlplan_torch_pause();
    CHECK(recording->count == recording->capacity && recording->events == NULL);
    recording->count = recording->capacity = 0;
    CHECK(djlplan_torch_events(run, NULL, 0) == -1);
    finish(run);
    release(&block);
}

/* Each gets the frees of its own blocks, whichever is current or finished. */
static void check_two(int first_ends_first) {
    struct djlplan_torch_run *first = djlplan_torch_record();
    torch_data_ptr a = allocate(10), b = allocate(20);
    djlplan_torch_pause();
    struct djlplan_torch_run *second = djlplan_torch_record();
    CHECK(first != NULL && second != NULL);
    torch_data_ptr c = allocate(30);
    release(&a);
    djlplan_torch_pause();
    torch_data_ptr d;
    int64_t events[2 * EVENT];
    if (first_ends_first) {
        finish(first);
        release(&b);
        release(&c);
        CHECK(djlplan_torch_events(second, events, EVENT) == EVENT);
        check_event(events, 30, 0, 1);
        finish(second);
        d = allocate(40);
    } else {
        finish(second);
        release(&c);
        release(&b);
        CHECK(djlplan_torch_events(first, events, 2 * EVENT) == 2 * EVENT);
        check_event(events, 10, 0, 2);
        check_event(events + EVENT, 20, 1, 3);
        d = allocate(40);
        CHECK(djlplan_torch_events(first, NULL, 0) == 2 * EVENT);
        finish(first);
    }
    release(&d);
}

static int is_mapped(void *address) {
    unsigned char page;
    return mincore(address, 1, &page) == 0;
}

/* Large blocks are none of the engine's, and the system's again once freed, whoever frees them. */
static void check_large(void) {
    int before = live_blocks();
    struct djlplan_torch_run *run = djlplan_torch_record();
    torch_data_ptr a = allocate(LARGE), b = allocate(LARGE + 1), kept = allocate(2 * LARGE);
    void *raw = raw_allocate(LARGE);
    CHECK(live_blocks() == before);
    memset(a.data, 1, LARGE);
    memset(kept.data, 2, 2 * LARGE);
    void *addresses[] = {a.data, b.data, raw};
    for (int i = 0; i < 3; i++) CHECK(is_mapped(addresses[i]));
    release_elsewhere(&b);
    release(&a);
    raw_deallocate(raw);
    for (int i = 0; i < 3; i++) CHECK(!is_mapped(addresses[i]));
    djlplan_torch_pause();
    torch_data_ptr unrecorded = allocate(LARGE);
    CHECK(live_blocks() == before + 1);
    int64_t events[4 * EVENT];
    CHECK(djlplan_torch_events(run, events, 4 * EVENT) == 4 * EVENT);
    check_event(events, LARGE, 0, 5);
    check_event(events + EVENT, LARGE + 1, 1, -1);
    check_event(events + 3 * EVENT, LARGE, 3, 6);
    finish(run);
    release(&unrecorded);
    CHECK(((char *)kept.data)[2 * LARGE - 1] == 2);
    void *last = kept.data;
    release(&kept);
    CHECK(!is_mapped(last) && live_blocks() == before);
}

/* The engine of this program has no operators: what is noted is that none made an allocation. */
static void check_names(void) {
    char message[64] = "", lines[64] = "";
    CHECK(djlplan_torch_names_begin(message, sizeof message) == DJLPLAN_ENGINE_ERROR);
    CHECK(strcmp(message, "libtorch does not tell them") == 0);
    CHECK(djlplan_torch_names_begin(NULL, 0) == DJLPLAN_ENGINE_ERROR);
    CHECK(djlplan_torch_names(lines, sizeof lines) == 0);
    atomic_store(&djlplan_names_kept, true);
    torch_data_ptr outside = allocate(50); /* of no run */
    struct djlplan_torch_run *run = djlplan_torch_record();
    torch_data_ptr a = allocate(100), empty = allocate(0);
    djlplan_torch_names_end();
    torch_data_ptr b = allocate(300);
    CHECK(djlplan_torch_pause() == 0);
    release(&outside);
    release(&a);
    release(&empty);
    release(&b);
    finish(run);
    const char noted[] = "100 ? \n0 ? \n";
    const int64_t bytes = sizeof noted - 1;
    CHECK(djlplan_torch_names(lines, bytes - 1) == bytes && lines[0] == '\0'); /* too little room */
    CHECK(djlplan_torch_names(lines, sizeof lines) == bytes && strcmp(lines, noted) == 0);
}

void check_recordings(void) {
    check_names();
    check_events();
    check_many();
    check_too_many();
    check_two(0);
    check_two(1);
    check_large();
    CHECK(live_blocks() == 0);
}
