/* Records the allocations of a run and the frees of its blocks. */
#include "torch_run.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One lock for all recordings: they are rare, and a free must find its own among them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct djlplan_torch_run *recordings;
static atomic_int recording_count;

static int *bucket(struct djlplan_torch_run *run, const void *address) {
    uint64_t hash = ((uint64_t)(uintptr_t)address >> 6) * UINT64_C(0x9E3779B97F4A7C15);
    return &run->buckets[hash >> (64 - RECORD_BUCKET_BITS)];
}

struct djlplan_torch_run *djlplan_record_begin(void) {
    struct djlplan_torch_run *run = calloc(1, sizeof *run);
    int *buckets = malloc(RECORD_BUCKETS * sizeof *buckets);
    if (run == NULL || buckets == NULL) {
        free(run);
        free(buckets);
        return NULL;
    }
    run->recording = 1;
    run->buckets = buckets;
    run->thread = pthread_self();
    run->paused_at = -1;
    for (int i = 0; i < RECORD_BUCKETS; i++) run->buckets[i] = -1;
    pthread_mutex_lock(&lock);
    run->next_recording = recordings;
    recordings = run;
    atomic_fetch_add(&recording_count, 1);
    pthread_mutex_unlock(&lock);
    return run;
}

static int ensure_room(struct djlplan_torch_run *run) {
    if (run->count < run->capacity) return 1;
    if (run->capacity > INT_MAX / 2) return 0;
    int capacity = run->capacity == 0 ? 1024 : run->capacity * 2;
    struct event *events = realloc(run->events, (size_t)capacity * sizeof *events);
    if (events == NULL) return 0;
    run->events = events;
    run->capacity = capacity;
    return 1;
}

torch_data_ptr djlplan_record_allocate(struct djlplan_torch_run *run, size_t bytes) {
    void *large = djlplan_large_allocate(bytes);
    torch_data_ptr block =
        large == NULL
            ? djlplan_torch_engine_allocate(bytes)
            : (torch_data_ptr){large, djlplan_torch_free, large, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
    pthread_mutex_lock(&lock);
    if (ensure_room(run)) {
        int *head = bucket(run, block.data);
        run->events[run->count] = (struct event){(int64_t)bytes, run->clock++, -1, block.data, -1};
        if (block.data != NULL) {
            run->events[run->count].next = *head;
            *head = run->count;
            block.deleter = djlplan_torch_free;
        }
        run->count++;
    } else {
        run->incomplete = 1;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static void note_free(struct djlplan_torch_run *run, const void *block) {
    for (int *link = bucket(run, block); *link >= 0; link = &run->events[*link].next) {
        struct event *event = &run->events[*link];
        if (event->address == block) {
            int64_t now = run->clock++;
            /*
             * When another thread frees is left to chance: such a block is not to be planned. After
             * the pause it does not matter, as there are no more allocations.
             */
            if (run->paused_at >= 0 || pthread_equal(pthread_self(), run->thread)) event->freed = now;
            *link = event->next;
            return;
        }
    }
}

/* Before the engine frees the block, as another thread may get its address at once. */
void djlplan_record_free(const void *block) {
    if (atomic_load_explicit(&recording_count, memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&lock);
    for (struct djlplan_torch_run *run = recordings; run != NULL; run = run->next_recording) {
        note_free(run, block);
    }
    pthread_mutex_unlock(&lock);
}

void djlplan_record_pause(struct djlplan_torch_run *run) {
    pthread_mutex_lock(&lock);
    run->paused_at = run->clock;
    pthread_mutex_unlock(&lock);
}

int64_t djlplan_torch_events(const struct djlplan_torch_run *run, int64_t *out,
                             int64_t capacity) {
    pthread_mutex_lock(&lock);
    int64_t written = 0;
    for (int i = 0; i < run->count && written + 3 <= capacity; i++) {
        out[written++] = run->events[i].bytes;
        out[written++] = run->events[i].allocated;
        out[written++] = run->events[i].freed;
    }
    int64_t total = run->incomplete ? -1 : 3 * (int64_t)run->count;
    pthread_mutex_unlock(&lock);
    return total;
}

int64_t djlplan_torch_paused_at(const struct djlplan_torch_run *run) { return run->paused_at; }

void djlplan_record_finish(struct djlplan_torch_run *run) {
    pthread_mutex_lock(&lock);
    struct djlplan_torch_run **link = &recordings;
    while (*link != NULL && *link != run) link = &(*link)->next_recording;
    if (*link == run) {
        *link = run->next_recording;
        atomic_fetch_sub(&recording_count, 1);
    }
    pthread_mutex_unlock(&lock);
    free(run->events);
    free(run->buckets);
    free(run);
}
