/* Checks the allocator for ONNX Runtime, with fake_ort.c instead of the engine. */
#define _GNU_SOURCE
#include "arena.h"
#include "check.h"
#include "ort_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { MEBI = 1 << 20, LARGE = 200 << 10, THREADS = 8, ROUNDS = 2000 };

static struct ort_allocator *(*registered)(void);
static int (*live)(void);
static int environment;
static _Thread_local char *arena;

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    return found;
}

static void *allocate(size_t bytes) {
    struct ort_allocator *allocator = registered();
    void *block = allocator->allocate(allocator, bytes);
    CHECK((uintptr_t)block % DJLPLAN_ALIGNMENT == 0);
    if (block != NULL) memset(block, 1, bytes);
    return block;
}

static void *reserve(size_t bytes) {
    struct ort_allocator *allocator = registered();
    return allocator->reserve(allocator, bytes);
}

static void *release(void *block) {
    struct ort_allocator *allocator = registered();
    allocator->free(allocator, block);
    return NULL;
}

static void release_elsewhere(void *block) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, release, block) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static bool in_arena(const void *block) {
    return djlplan_arena_of(block) == djlplan_arena_of(arena);
}

static int64_t figure(enum djlplan_ort_figure which) {
    int64_t figures[DJLPLAN_ORT_FIGURES + 1];
    figures[DJLPLAN_ORT_FIGURES] = -7;
    djlplan_ort_figures(figures);
    CHECK(figures[DJLPLAN_ORT_FIGURES] == -7);
    return figures[which];
}

static int64_t finish(struct djlplan_run *run, enum djlplan_counter which) {
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    return counters[which];
}

static void check_outside(void) {
    CHECK(allocate(0) == NULL && reserve(0) == NULL);
    release(NULL);
    CHECK(allocate(SIZE_MAX) == NULL && allocate(SIZE_MAX - DJLPLAN_ALIGNMENT) == NULL);
    CHECK(allocate(SIZE_MAX / 2) == NULL);
    void *small = allocate(1), *large = allocate(LARGE), *kept = reserve(LARGE);
    CHECK(figure(DJLPLAN_ORT_OUTSIDE_BYTES) == LARGE + 1);
    CHECK(figure(DJLPLAN_ORT_WEIGHTS_BYTES) == LARGE);
    release(small);
    release_elsewhere(large);
    release(kept);
    CHECK(figure(DJLPLAN_ORT_OUTSIDE_BYTES) == 0 && figure(DJLPLAN_ORT_WEIGHTS_BYTES) == 0);
}

static void check_load(void) {
    djlplan_ort_load_begin();
    void *weights = allocate(LARGE), *packed = allocate(2 * LARGE);
    release(weights);
    CHECK(djlplan_ort_load_end() == 2 * LARGE);
    void *output = allocate(7);
    CHECK(figure(DJLPLAN_ORT_WEIGHTS_BYTES) == 2 * LARGE);
    release(packed);
    release(output);
    CHECK(figure(DJLPLAN_ORT_WEIGHTS_BYTES) == 0);

    djlplan_ort_load_begin(); /* of a session that cannot be created */
    struct djlplan_run *run = djlplan_ort_begin(arena, NULL, 0, INT64_MAX);
    void *intermediate = allocate(LARGE);
    CHECK(in_arena(intermediate));
    release(intermediate);
    djlplan_ort_pause();
    djlplan_run_finish(run, (int64_t[DJLPLAN_COUNTERS]){0});
    CHECK(djlplan_ort_load_end() == 0);
}

/* Allocates an intermediate and an output; returns the output, which is in use. */
static void *predict(struct djlplan_escapes *escapes, int64_t bytes) {
    struct djlplan_run *run = djlplan_ort_begin(arena, escapes, 0, INT64_MAX);
    CHECK(run != NULL && djlplan_ort_begin(arena, escapes, 0, INT64_MAX) == NULL);
    void *intermediate = allocate((size_t)bytes), *output = allocate((size_t)bytes);
    CHECK(in_arena(intermediate));
    release(intermediate);
    djlplan_ort_pause();
    djlplan_ort_pause();
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_ALIVE] == (in_arena(output) ? 1 : 0));
    CHECK(counters[DJLPLAN_BYTES] == 2 * bytes);
    return output;
}

static void check_runs(void) {
    struct djlplan_escapes *escapes = djlplan_escapes_create(NULL);
    void *first = predict(escapes, LARGE), *second = predict(escapes, 2 * LARGE);
    CHECK(in_arena(first) && !in_arena(second));
    release_elsewhere(first);
    release(second);
    CHECK(djlplan_arena_in_use(arena) == 0);
    CHECK(djlplan_ort_begin(&environment, escapes, 0, INT64_MAX) == NULL);
    djlplan_escapes_delete(escapes);
}

/* Checks a run in which nothing fits, so the engine allocates everything. */
static void check_no_room(void) {
    struct djlplan_run *run = djlplan_ort_begin(arena, NULL, 0, INT64_MAX);
    void *block = allocate((size_t)64 * MEBI);
    CHECK(!in_arena(block));
    release(block);
    djlplan_ort_pause();
    CHECK(finish(run, DJLPLAN_OUTSIDE) == 1);
}

/* Checks that an allocation beyond the limit fails, and occupies nothing. */
static void check_limit(void) {
    struct djlplan_run *run = djlplan_ort_begin(arena, NULL, 1, 2 * LARGE);
    void *block = allocate(LARGE);
    CHECK(in_arena(block) && djlplan_ort_refused() == 0);
    CHECK(allocate((size_t)2 * LARGE) == NULL);
    CHECK(djlplan_ort_refused() >= (int64_t)3 * LARGE);
    release(block);
    CHECK(djlplan_arena_in_use(arena) == 0);
    djlplan_ort_pause();
    CHECK(djlplan_run_events(run, NULL, 0) == (int64_t)2 * DJLPLAN_EVENT_VALUES);
    (void)finish(run, DJLPLAN_OUTSIDE);
    CHECK(djlplan_ort_refused() >= (int64_t)3 * LARGE);
}

static void *predict_often(void *seed) {
    struct djlplan_escapes *escapes = djlplan_escapes_create(NULL);
    size_t bytes = (size_t)(uintptr_t)seed * 1000;
    arena = djlplan_arena_create(MEBI, (int64_t)32 * MEBI);
    for (int i = 0; i < ROUNDS; i++) {
        char *output = predict(escapes, (int64_t)bytes);
        CHECK(output[0] == 1 && output[bytes - 1] == 1);
        release(output);
        if (i % 100 == 0) djlplan_arena_trim(arena, 0, INT64_MAX);
    }
    djlplan_escapes_delete(escapes);
    djlplan_arena_free(arena);
    return NULL;
}

static void check_threads(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        void *seed = (void *)(uintptr_t)(i + 1);
        CHECK(pthread_create(&threads[i], NULL, predict_often, seed) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Checks an output that outlives the freed arena and the environment. */
static void check_end(void) {
    void *output = predict(NULL, LARGE), *outside = allocate(LARGE);
    struct ort_allocator *allocator = registered();
    djlplan_arena_free(arena);
    djlplan_ort_detach();
    djlplan_ort_detach();
    CHECK(registered() == NULL);
    allocator->free(allocator, output);
    allocator->free(allocator, outside);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    char message[256] = "";
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    CHECK(library != NULL);
    registered =
        (struct ort_allocator * (*)(void))(uintptr_t)symbol(library, "fake_ort_registered");
    live = (int (*)(void))(uintptr_t)symbol(library, "fake_ort_live");
    void *table = ((void *(*)(void))(uintptr_t)symbol(library, "fake_ort_table"))();
    if (strcmp(arguments[2], "sound") != 0) {
        CHECK(djlplan_ort_attach(table, &environment, message, sizeof message) != DJLPLAN_OK);
        CHECK(strstr(message, arguments[2]) != NULL);
        CHECK(registered() == NULL && live() == 0);
    } else {
        void *other[ORT_UNREGISTER_ALLOCATOR + 1];
        memcpy(other, table, sizeof other);
        CHECK(djlplan_ort_attach(NULL, &environment, message, sizeof message) != DJLPLAN_OK);
        CHECK(djlplan_ort_attach(other, &environment, message, sizeof message) != DJLPLAN_OK);
        CHECK(strstr(message, "table of functions is another one") != NULL);
        CHECK(djlplan_ort_attach(table, &environment, message, sizeof message) == DJLPLAN_OK);
        CHECK(djlplan_ort_attach(table, &environment, message, sizeof message) == DJLPLAN_OK);
        CHECK(djlplan_ort_attach(other, &environment, message, sizeof message) == DJLPLAN_OK);
        arena = djlplan_arena_create(MEBI, (int64_t)32 * MEBI);
        CHECK(arena != NULL);
        check_outside();
        check_load();
        check_runs();
        check_no_room();
        check_limit();
        check_threads();
        check_end();
        CHECK(live() == 0);
        CHECK(figure(DJLPLAN_ORT_ALLOCATIONS) > 0 && figure(DJLPLAN_ORT_OUTSIDE_BYTES) == 0);
    }
    puts("OK");
    return 0;
}
