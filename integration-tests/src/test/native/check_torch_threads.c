/*
 * Checks threads that predict with and without plans at the same time, keep blocks, and free each
 * other's blocks. Every block is filled with its own byte, so a block that overlaps another is
 * found when either is freed.
 */
#include "check_torch.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    THREADS = 8,
    BLOCKS = 24,
    MOST_BYTES = 16384,
    OUTPUT_BYTES = 65536,
    EXCHANGE = 16,
    EVENT = 3
};

/* Fewer rounds under ThreadSanitizer, which is slow, and finds races in any order of threads. */
#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 100 };
#else
enum { ROUNDS = 400 };
#endif

struct block {
    torch_data_ptr pointer;
    size_t bytes;
};

/* Blocks that one thread leaves for other threads to free. */
static _Atomic(struct block *) exchange[EXCHANGE];
static atomic_int placed, diverged, kept_arenas;

/* The arena for blocks known to outlive predictions, here each prediction's first block. */
static char *outputs;
static atomic_int in_outputs;

struct worker {
    uint64_t random;
    size_t bytes[BLOCKS]; /* the model: sizes, and the earlier block that each allocation frees */
    int frees[BLOCKS];
    struct djlplan_plan *plan;
    char *arena;
    struct djlplan_escapes *escapes; /* shared by all workers */
    int64_t arena_bytes;
};

static unsigned draw(struct worker *worker, unsigned limit) {
    worker->random = worker->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(worker->random >> 33) % limit;
}

static struct block *take(struct worker *worker, size_t bytes) {
    struct block *block = malloc(sizeof *block);
    CHECK(block != NULL);
    *block = (struct block){allocate(bytes), bytes};
    CHECK((block->pointer.data == NULL) == (bytes == 0));
    if (bytes > 0) memset(block->pointer.data, (int)draw(worker, 256), bytes);
    return block;
}

static void drop(struct block *block) {
    if (block == NULL) return;
    const char *data = block->pointer.data;
    CHECK(block->bytes == 0 || memcmp(data, data + 1, block->bytes - 1) == 0);
    release(&block->pointer);
    free(block);
}

/* Frees a block, or leaves it to other threads and frees one that they left. */
static void give_up(struct worker *worker, struct block *block) {
    if (draw(worker, 3) == 0) {
        block = atomic_exchange(&exchange[draw(worker, EXCHANGE)], block);
    }
    drop(block);
}

static void draw_model(struct worker *worker) {
    for (int i = 0; i < BLOCKS; i++) {
        worker->bytes[i] = draw(worker, 8) == 0 ? 0 : draw(worker, MOST_BYTES);
        if (i == 0 && draw(worker, 2) == 0) worker->bytes[i] += OUTPUT_BYTES;
        worker->frees[i] = draw(worker, 4) == 0 || i == 0 ? -1 : (int)draw(worker, (unsigned)i);
        if (worker->frees[i] == 0 && draw(worker, 8) != 0) worker->frees[i] = -1;
    }
}

/*
 * Runs one prediction; `other` is the allocation with an unplanned size, −1 for none. If `shared`,
 * other threads free some of its blocks, now or later.
 */
static void predict(struct worker *worker, int other, int shared, struct block **blocks) {
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = take(worker, worker->bytes[i] + (i == other ? 64 : 0));
        int freed = worker->frees[i];
        if (freed >= 0 && blocks[freed] != NULL) {
            shared ? give_up(worker, blocks[freed]) : drop(blocks[freed]);
            blocks[freed] = NULL;
        }
    }
}

static int overlap(const int64_t *a, const int64_t *b) {
    return (a[2] < 0 || b[1] < a[2]) && (b[2] < 0 || a[1] < b[2]);
}

/* Plans the lowest place above every earlier block that is in use at the same time. */
static void make_plan(struct worker *worker, const int64_t *events) {
    int64_t bytes[BLOCKS], offsets[BLOCKS];
    worker->arena_bytes = 64;
    for (int i = 0; i < BLOCKS; i++) {
        bytes[i] = events[i * EVENT];
        offsets[i] = bytes[i] > 0 ? 0 : -1;
        for (int j = 0; j < i && bytes[i] > 0; j++) {
            int64_t end = offsets[j] + (bytes[j] + 63) / 64 * 64;
            if (bytes[j] > 0 && overlap(events + i * EVENT, events + j * EVENT) &&
                end > offsets[i]) {
                offsets[i] = end;
            }
        }
        int64_t end = bytes[i] > 0 ? offsets[i] + (bytes[i] + 63) / 64 * 64 : 0;
        if (end > worker->arena_bytes) worker->arena_bytes = end;
    }
    worker->plan = djlplan_plan_create(bytes, offsets, BLOCKS, worker->arena_bytes);
    CHECK(worker->plan != NULL);
}

static void drop_plan(struct worker *worker) {
    if (worker->plan != NULL) djlplan_plan_delete(worker->plan);
    if (worker->arena != NULL) djlplan_arena_free(worker->arena);
    worker->plan = NULL;
    worker->arena = NULL;
}

static void record(struct worker *worker) {
    drop_plan(worker);
    draw_model(worker);
    worker->arena = djlplan_arena_create(64, INT64_C(1) << 24);
    struct djlplan_run *run = djlplan_torch_begin(NULL, worker->arena, worker->escapes, 1);
    CHECK(run != NULL);
    struct block *blocks[BLOCKS];
    predict(worker, -1, draw(worker, 2) == 0, blocks);
    djlplan_torch_pause();
    /* The first block outlives each recorded prediction, unless it was freed during it. */
    for (int i = 2; i < BLOCKS; i += 2) {
        if (blocks[i] != NULL) give_up(worker, blocks[i]);
    }
    int64_t events[BLOCKS * EVENT], counters[DJLPLAN_COUNTERS];
    CHECK(djlplan_run_events(run, events, BLOCKS * EVENT) == BLOCKS * EVENT);
    djlplan_run_finish(run, counters);
    atomic_fetch_add(&in_outputs, counters[DJLPLAN_KEPT_REACHED] > 0);
    if (draw(worker, 8) == 0) djlplan_arena_trim(outputs, draw(worker, 1 << 16), INT64_MAX);
    djlplan_arena_trim(worker->arena, draw(worker, 1 << 16), INT64_MAX);
    for (int i = 1; i < BLOCKS; i += 2) {
        if (blocks[i] != NULL) give_up(worker, blocks[i]);
    }
    if (blocks[0] != NULL) give_up(worker, blocks[0]);
    make_plan(worker, events);
}

static void replay(struct worker *worker) {
    if (worker->arena == NULL) {
        worker->arena = djlplan_arena_create(worker->arena_bytes, INT64_C(1) << 24);
    }
    struct djlplan_run *run = djlplan_torch_begin(worker->plan, worker->arena, worker->escapes, 0);
    CHECK(run != NULL);
    int ends = draw(worker, 10) == 0;
    if (ends) {
        djlplan_plan_delete(worker->plan);
        worker->plan = NULL;
    }
    struct block *blocks[BLOCKS];
    int shared = draw(worker, 3) == 0;
    predict(worker, draw(worker, 5) == 0 ? (int)draw(worker, BLOCKS) : -1, shared, blocks);
    djlplan_torch_pause();
    unsigned kept = draw(worker, 3) == 0 ? draw(worker, BLOCKS) : BLOCKS;
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (i != kept && blocks[i] != NULL) {
            kept == BLOCKS ? drop(blocks[i]) : give_up(worker, blocks[i]);
        }
    }
    int64_t counters[DJLPLAN_COUNTERS];
    djlplan_run_finish(run, counters);
    CHECK(counters[DJLPLAN_OUTSIDE] == 0);
    atomic_fetch_add(&placed, (int)counters[DJLPLAN_PLACED]);
    atomic_fetch_add(&diverged, counters[DJLPLAN_DIVERGED] > 0);
    if (draw(worker, 4) == 0) djlplan_arena_trim(worker->arena, draw(worker, 1 << 16), INT64_MAX);
    if (counters[DJLPLAN_ALIVE] > 0 && draw(worker, 2) == 0) {
        atomic_fetch_add(&kept_arenas, 1);
        djlplan_arena_free(worker->arena);
        worker->arena = NULL;
    }
    if (kept < BLOCKS && blocks[kept] != NULL) give_up(worker, blocks[kept]);
}

static struct djlplan_escapes *all_escapes;

static void *work(void *seed) {
    struct worker worker = {.random = (uint64_t)(uintptr_t)seed, .escapes = all_escapes};
    for (int round = 0; round < ROUNDS; round++) {
        if (worker.plan == NULL || draw(&worker, 8) == 0) {
            record(&worker);
        } else {
            replay(&worker);
        }
        drop(take(&worker, draw(&worker, MOST_BYTES)));
    }
    drop_plan(&worker);
    return NULL;
}

/* Whether several threads reach the arena of outputs depends on their order, so one does first. */
static void check_outputs(void) {
    struct worker alone = {.random = 1, .escapes = djlplan_escapes_create(outputs)};
    for (int i = 0; i < BLOCKS; i++) record(&alone);
    drop_plan(&alone);
    djlplan_escapes_delete(alone.escapes);
    CHECK(in_outputs > 0);
}

void check_threads(void) {
    pthread_t threads[THREADS];
    outputs = djlplan_arena_create(64, INT64_C(1) << 24);
    check_outputs();
    all_escapes = djlplan_escapes_create(outputs);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    djlplan_escapes_delete(all_escapes);
    djlplan_arena_free(outputs);
    for (int i = 0; i < EXCHANGE; i++) drop(atomic_exchange(&exchange[i], NULL));
    CHECK(placed > 0 && diverged > 0 && kept_arenas > 0);
    CHECK(djlplan_arena_of(outputs) == NULL);
}
