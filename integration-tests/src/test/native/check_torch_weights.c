/*
 * Checks weights in a file: their bytes stay right, whichever pieces are loaded, dropped or freed.
 */
#define _GNU_SOURCE
#include "check_torch.h"
#include "torch_weights.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { PIECE = DJLPLAN_WEIGHT_PIECE_BYTES, BLOCKS = 3, STEPS = 4 };

static struct djlplan_weights *create(int64_t bytes) {
    int32_t problem = -1;
    struct djlplan_weights *weights = djlplan_weights_create("/tmp", bytes, &problem);
    CHECK(weights != NULL && problem == 0);
    return weights;
}

/* Loads blocks of one piece each; every byte is the block's number plus one. */
static struct djlplan_weights *load(torch_data_ptr *blocks) {
    struct djlplan_weights *weights = create(BLOCKS * (int64_t)PIECE);
    CHECK(djlplan_weights_load(weights) == 0);
    CHECK(djlplan_weights_load(weights) == EBUSY);
    int live = live_blocks();
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = allocate(PIECE);
        memset(blocks[i].data, i + 1, PIECE);
        torch_data_ptr small = allocate(100);
        CHECK(live_blocks() == live + 1);
        release(&small);
    }
    torch_data_ptr beyond = allocate(PIECE); /* the file is full */
    CHECK(live_blocks() == live + 1);
    release(&beyond);
    CHECK(djlplan_weights_loaded(weights) == 0);
    CHECK(djlplan_weights_bytes(weights) == BLOCKS * (int64_t)PIECE);
    return weights;
}

static void check_bytes(const torch_data_ptr *blocks, int first) {
    for (int i = 0; i < BLOCKS; i++) {
        const char *bytes = blocks[i].data;
        CHECK(bytes[0] == first + i && bytes[PIECE / 2] == first + i &&
              bytes[PIECE - 1] == first + i);
    }
}

/*
 * Runs a prediction with a step for each block; with `wrong`, an allocation in the middle deviates
 * from the schedule.
 */
static void run(struct djlplan_weights *weights, struct djlplan_schedule *schedule, int flags,
                const torch_data_ptr *blocks, bool wrong, int64_t *figures) {
    CHECK(djlplan_weights_begin(weights, schedule, flags) == DJLPLAN_OK);
    CHECK(djlplan_weights_begin(weights, schedule, flags) == DJLPLAN_ENGINE_ERROR);
    for (int i = 0; i < BLOCKS; i++) {
        torch_data_ptr output = allocate(wrong && i == 1 ? 1000 : 100);
        CHECK(((const char *)blocks[i].data)[i] == ((const char *)blocks[i].data)[PIECE - 1 - i]);
        release(&output);
    }
    djlplan_weights_end(weights, figures);
}

/* Makes a schedule that loads the last piece, or only looks it up. */
static struct djlplan_schedule *schedule(int last) {
    const int64_t bytes[STEPS] = {0, 100, 100, 100};
    const int32_t needs[STEPS] = {1, 2, 4, 6};
    const int32_t actions[] = {0, DJLPLAN_PIN,  0, 1, DJLPLAN_LOAD, 1, 0, DJLPLAN_LOAD, 1,
                               1, DJLPLAN_LOAD, 2, 1, DJLPLAN_DROP, 3, 2, last,         3};
    return djlplan_schedule_create(bytes, needs, STEPS, actions, 6);
}

static void check_watched(struct djlplan_weights *weights, const torch_data_ptr *blocks) {
    int64_t figures[DJLPLAN_STREAM_FIGURES];
    run(weights, NULL, DJLPLAN_STREAM_WATCHED, blocks, false, figures);
    int64_t steps[2 * STEPS];
    CHECK(djlplan_weights_steps(weights, steps, 2 * STEPS) == 2 * STEPS);
    for (int i = 0; i < STEPS; i++) CHECK(steps[2 * i] == (i == 0 ? 0 : 100));
    enum { VALUES = DJLPLAN_TOUCH_VALUES * BLOCKS };
    int32_t touches[VALUES];
    CHECK(djlplan_weights_touches(weights, touches, VALUES) == VALUES);
    for (int i = 0; i < BLOCKS; i++) {
        const int32_t *touch = touches + DJLPLAN_TOUCH_VALUES * i;
        CHECK(touch[0] == i + 1 && touch[1] == i && touch[2] > 0 && touch[2] <= PIECE / 4096);
    }
}

static void check_runs(int flags) {
    torch_data_ptr blocks[BLOCKS];
    struct djlplan_weights *weights = load(blocks);
    check_bytes(blocks, 1);
    check_watched(weights, blocks);
    int64_t figures[DJLPLAN_STREAM_FIGURES];
    struct djlplan_schedule *looking_up = schedule(DJLPLAN_LOOK_UP);
    run(weights, looking_up, flags, blocks, false, figures);
    CHECK(figures[DJLPLAN_STREAM_AS_PLANNED] && figures[DJLPLAN_STREAM_FAILED] == 0);
    djlplan_schedule_delete(looking_up);
    struct djlplan_schedule *plan = schedule(DJLPLAN_LOAD);
    CHECK(plan != NULL);
    for (int round = 0; round < 20; round++) {
        run(weights, plan, flags, blocks, round % 4 == 3, figures);
        CHECK(figures[DJLPLAN_STREAM_AS_PLANNED] == (round % 4 != 3));
        CHECK(figures[DJLPLAN_STREAM_FAILED] == 0);
        if (round == 10) run(weights, NULL, flags, blocks, false, figures);
    }
    /* Loading has ended already, and pieces are copies by now. */
    CHECK(djlplan_weights_loaded(weights) == 0);
    check_bytes(blocks, 1);
    /* A write to a weight persists, loaded or not. */
    CHECK(djlplan_weights_begin(weights, plan, flags) == DJLPLAN_OK);
    torch_data_ptr output = allocate(100);
    for (int i = 0; i < BLOCKS; i++) memset(blocks[i].data, 10 + i, PIECE);
    release(&output);
    djlplan_weights_end(weights, figures);
    djlplan_schedule_delete(plan);
    CHECK(djlplan_weights_uncache(weights) == 0);
    check_bytes(blocks, 10);
    run(weights, NULL, flags, blocks, false, figures);
    check_bytes(blocks, 10);
    djlplan_weights_close(weights);
    check_bytes(blocks, 10);
    for (int i = 0; i < BLOCKS; i++) release(&blocks[i]);
}

static void check_schedules(void) {
    const int64_t bytes[2] = {0, 100};
    const int32_t after_itself[] = {0, DJLPLAN_LOAD, 1};
    const int32_t needs_one[2] = {1, 1}, needs_two[2] = {0, 2}, none[2] = {0, 0};
    CHECK(djlplan_schedule_create(bytes, needs_one, 2, after_itself, 1) == NULL);
    CHECK(djlplan_schedule_create(bytes, needs_two, 2, after_itself, 1) == NULL);
    struct djlplan_schedule *unneeded = djlplan_schedule_create(bytes, none, 2, after_itself, 1);
    CHECK(unneeded != NULL);
    djlplan_schedule_delete(unneeded);
}

static void *end_load(void *weights) {
    CHECK(djlplan_weights_loaded(weights) == 0);
    djlplan_weights_close(weights);
    return NULL;
}

/* Checks that a thread notices if another thread ends its load and closes the weights. */
static void check_abandoned(void) {
    struct djlplan_weights *weights = create(PIECE);
    CHECK(djlplan_weights_load(weights) == 0);
    torch_data_ptr block = allocate(PIECE / 2);
    memset(block.data, 7, PIECE / 2);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, end_load, weights) == 0);
    pthread_join(other, NULL);
    CHECK(((char *)block.data)[PIECE / 2 - 1] == 7);
    int live = live_blocks();
    torch_data_ptr engines = allocate(PIECE / 2);
    CHECK(live_blocks() == live + 1);
    release(&engines);
    release(&block);
}

/* How many more allocations on disk fail as if a signal were pending. */
static int interruptions;

/* Replaces the function of the C library. */
int posix_fallocate(int file, off_t offset, off_t bytes) {
    int (*allocate_blocks)(int, off_t, off_t);
    *(void **)&allocate_blocks = dlsym(RTLD_NEXT, "posix_fallocate");
    sigset_t blocked;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGPROF));
    return interruptions-- > 0 ? EINTR : allocate_blocks(file, offset, bytes);
}

/* Checks that signals do not keep weights out of the file. */
static void check_interrupted(void) {
    struct djlplan_weights *weights = create(PIECE);
    CHECK(djlplan_weights_load(weights) == 0);
    interruptions = 3;
    int live = live_blocks();
    torch_data_ptr block = allocate(PIECE);
    CHECK(live_blocks() == live && interruptions < 0);
    CHECK(djlplan_weights_loaded(weights) == 0);
    CHECK(djlplan_weights_bytes(weights) == PIECE);
    release(&block);
    djlplan_weights_close(weights);
}

/* Returns how many mappings the process has in a range of addresses. */
static int mappings(const char *from, int64_t bytes) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    int count = 0;
    uintptr_t begin;
    for (char line[4096]; fgets(line, sizeof line, maps) != NULL;) {
        CHECK(sscanf(line, "%" SCNxPTR, &begin) == 1);
        count += begin >= (uintptr_t)from && begin - (uintptr_t)from < (uintptr_t)bytes;
    }
    fclose(maps);
    return count;
}

/* Checks that a large file leaves most mappings of the process to others. */
static void check_large(void) {
    const int64_t bytes = INT64_C(16) << 30;
    long most = 0;
    FILE *limit = fopen("/proc/sys/vm/max_map_count", "r");
    CHECK(limit != NULL && fscanf(limit, "%ld", &most) == 1);
    fclose(limit);
    struct djlplan_weights *weights = create(bytes);
    CHECK(djlplan_weights_load(weights) == 0);
    /* Such blocks would take room on the disk. */
    pthread_mutex_lock(&weights->lock);
    weights->used = bytes;
    pthread_mutex_unlock(&weights->lock);
    CHECK(djlplan_weights_loaded(weights) == 0);
    CHECK(mappings(weights->base, bytes) == 1);
    CHECK(djlplan_weights_begin(weights, NULL, DJLPLAN_STREAM_WATCHED) == DJLPLAN_OK);
    int parts = mappings(weights->base, bytes);
    CHECK(parts > 1000 && parts <= most / 8 + 1);
    int64_t figures[DJLPLAN_STREAM_FIGURES];
    djlplan_weights_end(weights, figures);
    CHECK(mappings(weights->base, bytes) == 1);
    djlplan_weights_close(weights);
}

static void check_refused(void) {
    int32_t problem = 0;
    CHECK(djlplan_weights_create("/nowhere", PIECE, &problem) == NULL && problem == ENOENT);
    struct djlplan_weights *empty = create(PIECE);
    CHECK(djlplan_weights_load(empty) == 0 && djlplan_weights_loaded(empty) == 0);
    CHECK(djlplan_weights_bytes(empty) == 0);
    djlplan_weights_close(empty);
}

void check_weights(void) {
    check_refused();
    check_schedules();
    check_runs(0);
    check_runs(DJLPLAN_STREAM_DIRECT);
    check_abandoned();
    check_interrupted();
    check_large();
}
