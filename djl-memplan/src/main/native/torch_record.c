/* Records the allocations of a run and the frees of its blocks. */
#include "torch_run.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One lock for all recordings: they are rare, and a free must find its own among them. */
static pthread_mutex_t recordings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct djlplan_torch_run *recordings; /* guarded by recordings_lock */
static atomic_int recording_count; /* read without the lock, to free without it if there are none */

static int *bucket(struct recording *recording, const void *address) {
    uint64_t hash = ((uint64_t)(uintptr_t)address >> 6) * UINT64_C(0x9E3779B97F4A7C15);
    return &recording->buckets[hash >> (64 - RECORD_BUCKET_BITS)];
}

struct djlplan_torch_run *djlplan_record_begin(void) {
    struct djlplan_torch_run *run = calloc(1, sizeof *run);
    int *buckets = malloc(RECORD_BUCKETS * sizeof *buckets);
    if (run == NULL || buckets == NULL) {
        free(run);
        free(buckets);
        return NULL;
    }
    for (int i = 0; i < RECORD_BUCKETS; i++) buckets[i] = -1;
    run->kind = RUN_RECORDS;
    run->recording.buckets = buckets;
    run->recording.thread = pthread_self();
    run->recording.paused_at = -1;
    pthread_mutex_lock(&recordings_lock);
    run->recording.next = recordings;
    recordings = run;
    atomic_fetch_add(&recording_count, 1);
    pthread_mutex_unlock(&recordings_lock);
    return run;
}

static bool ensure_room(struct recording *recording) {
    if (recording->count < recording->capacity) return true;
    if (recording->capacity > INT_MAX / 2) return false;
    int capacity = recording->capacity == 0 ? 1024 : recording->capacity * 2;
    struct event *events = realloc(recording->events, (size_t)capacity * sizeof *events);
    if (events == NULL) return false;
    recording->events = events;
    recording->capacity = capacity;
    return true;
}

/* The caller holds recordings_lock. */
static void note_allocation(struct recording *recording, size_t bytes, const void *address) {
    struct event *event = &recording->events[recording->count];
    *event = (struct event){(int64_t)bytes, recording->clock++, -1, address, -1};
    if (address != NULL) {
        int *head = bucket(recording, address);
        event->next = *head;
        *head = recording->count;
    }
    recording->count++;
}

torch_data_ptr djlplan_record_allocate(struct djlplan_torch_run *run, size_t bytes) {
    struct recording *recording = &run->recording;
    void *large = djlplan_large_allocate(bytes);
    torch_data_ptr block =
        large == NULL ? djlplan_torch_engine_allocate(bytes) : djlplan_torch_block(large);
    pthread_mutex_lock(&recordings_lock);
    if (ensure_room(recording)) {
        note_allocation(recording, bytes, block.data);
        if (block.data != NULL) block.deleter = djlplan_torch_free;
    } else {
        recording->incomplete = true;
    }
    pthread_mutex_unlock(&recordings_lock);
    return block;
}

/* The caller holds recordings_lock. */
static void note_free(struct recording *recording, const void *block) {
    for (int *link = bucket(recording, block); *link >= 0; link = &recording->events[*link].next) {
        struct event *event = &recording->events[*link];
        if (event->address == block) {
            int64_t now = recording->clock++;
            /*
             * When another thread frees is left to chance: such a block is not to be planned. After
             * the pause it does not matter, as there are no more allocations.
             */
            if (recording->paused_at >= 0 || pthread_equal(pthread_self(), recording->thread)) {
                event->freed = now;
            }
            *link = event->next;
            return;
        }
    }
}

/* Before the engine frees the block, as another thread may get its address at once. */
void djlplan_record_free(const void *block) {
    if (atomic_load_explicit(&recording_count, memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&recordings_lock);
    for (struct djlplan_torch_run *run = recordings; run != NULL; run = run->recording.next) {
        note_free(&run->recording, block);
    }
    pthread_mutex_unlock(&recordings_lock);
}

void djlplan_record_pause(struct djlplan_torch_run *run) {
    pthread_mutex_lock(&recordings_lock);
    run->recording.paused_at = run->recording.clock;
    pthread_mutex_unlock(&recordings_lock);
}

int64_t djlplan_torch_events(const struct djlplan_torch_run *run, int64_t *out, int64_t capacity) {
    if (run->kind != RUN_RECORDS) return 0;
    const struct recording *recording = &run->recording;
    pthread_mutex_lock(&recordings_lock);
    int64_t written = 0;
    for (int i = 0; i < recording->count && written + DJLPLAN_EVENT_VALUES <= capacity; i++) {
        out[written++] = recording->events[i].bytes;
        out[written++] = recording->events[i].allocated;
        out[written++] = recording->events[i].freed;
    }
    int64_t total = recording->incomplete ? -1 : DJLPLAN_EVENT_VALUES * (int64_t)recording->count;
    pthread_mutex_unlock(&recordings_lock);
    return total;
}

int64_t djlplan_torch_paused_at(const struct djlplan_torch_run *run) {
    return run->kind == RUN_RECORDS ? run->recording.paused_at : -1;
}

void djlplan_record_finish(struct djlplan_torch_run *run) {
    pthread_mutex_lock(&recordings_lock);
    struct djlplan_torch_run **link = &recordings;
    while (*link != NULL && *link != run) link = &(*link)->recording.next;
    if (*link == run) {
        *link = run->recording.next;
        atomic_fetch_sub(&recording_count, 1);
    }
    pthread_mutex_unlock(&recordings_lock);
    free(run->recording.events);
    free(run->recording.buckets);
    free(run);
}
