/* Intercepts libtorch's CPU allocator, and passes allocations to the current run. */
#define _GNU_SOURCE
#include "functions.h"
#include "run.h"
#include "torch_engine.h"
#include "torch_names.h"
#include "torch_weights.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* More bytes than any machine has. */
static const size_t TOO_MANY_BYTES = (size_t)1 << 62;

/* A higher priority than the allocators that libtorch and its libraries set. */
enum { PRIORITY = 127 };

/*
 * Guarded by attach_lock until attached; constant afterwards, when the engine's threads read it
 * without the lock, behind a fence.
 */
static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static bool attached;
static void *vtable[TORCH_BEFORE + TORCH_ENTRIES_NEW];
static torch_allocator ours = {vtable + TORCH_BEFORE};

static _Thread_local struct djlplan_run *current;

/* Frees a block of the engine's allocator or of an arena, on any thread. */
static void free_block(void *block) {
    if (block != NULL && !djlplan_run_free(block, current)) djlplan_torch_engine_free(block);
}

static torch_data_ptr block_at(void *address) {
    return (torch_data_ptr){address, free_block, address, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
}

/* Returns the place of an allocation among this thread's weights, NULL if it is not a weight. */
static void *place_among_weights(size_t bytes) {
    struct djlplan_weights *weights = djlplan_weights_current;
    if (weights == NULL || djlplan_stream_notice(weights, bytes)) return NULL;
    return djlplan_weights_allocate(weights, bytes);
}

static torch_data_ptr allocate(const torch_allocator *self, size_t bytes) {
    (void)self;
    atomic_thread_fence(memory_order_acquire); /* pairs with the release fence of attach() */
    void *weight = place_among_weights(bytes);
    if (weight != NULL) return block_at(weight);
    struct djlplan_run *run = current;
    if (run == NULL) return djlplan_torch_engine_allocate(bytes);
    void *place = djlplan_run_place(run, bytes);
    /* Fails as the engine does without memory, with the engine's own error. */
    if (run->refused) return djlplan_torch_engine_allocate(TOO_MANY_BYTES);
    torch_data_ptr block = place == NULL ? djlplan_torch_engine_allocate(bytes) : block_at(place);
    if (atomic_load_explicit(&djlplan_names_kept, memory_order_relaxed)) {
        djlplan_names_note(bytes, block.data);
    }
    return block;
}

/* Frees raw blocks of the engine's allocator or of this one. */
static torch_deleter raw_deleter(const torch_allocator *self) {
    (void)self;
    atomic_thread_fence(memory_order_acquire);
    return free_block;
}

static const char *attach_to(void *library) {
    torch_set_allocator set;
    torch_get_allocator get;
    const int8_t cpu = TORCH_DEVICE_CPU;
    if (!djlplan_find(library, TORCH_SET_ALLOCATOR, &set) ||
        !djlplan_find(library, TORCH_GET_ALLOCATOR, &get)) {
        return "libc10 has no function to set its allocator";
    }
    torch_allocator *engine = get(&cpu);
    if (engine == NULL || engine->vtable == NULL) return "libc10 has no CPU allocator";
    const char *problem = djlplan_torch_engine_find(library, engine);
    if (problem != NULL) return problem;
    djlplan_torch_engine_copy_table(vtable, allocate, raw_deleter);
    /* libtorch publishes its allocator with a plain store. */
    atomic_thread_fence(memory_order_release);
    set(cpu, &ours, PRIORITY);
    return get(&cpu) == &ours ? NULL : "another allocator has precedence";
}

static const char *attach(void) {
    void *library = djlplan_loaded(TORCH_C10);
    if (library == NULL) return "libc10 is not loaded";
    const char *problem = attach_to(library);
    if (problem != NULL) dlclose(library);
    return problem;
}

int djlplan_torch_attach(char *message, int64_t message_bytes) {
    pthread_mutex_lock(&attach_lock);
    const char *problem = attached ? NULL : attach();
    attached = problem == NULL;
    pthread_mutex_unlock(&attach_lock);
    if (problem != NULL) {
        snprintf(message, (size_t)message_bytes, "libtorch's CPU allocator: %s", problem);
    }
    return problem == NULL ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

struct djlplan_run *djlplan_torch_begin(struct djlplan_plan *plan, void *arena,
                                        struct djlplan_escapes *escapes, int logged) {
    if (current != NULL) return NULL;
    current = djlplan_run_begin(plan, arena, escapes, logged);
    if (current != NULL) djlplan_torch_pass_begin();
    return current;
}

int djlplan_torch_pause(void) {
    struct djlplan_run *run = current;
    if (run == NULL) return 0;
    current = NULL;
    djlplan_torch_pass_end();
    return djlplan_run_pause(run);
}
