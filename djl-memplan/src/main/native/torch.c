/* Takes libtorch's CPU allocator over and hands allocations to the run that is current. */
#define _GNU_SOURCE
#include "torch_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int attached;
static torch_allocator *engine;
static torch_allocate engine_allocate;
static torch_deleter engine_free;
static void *vtable[TORCH_BEFORE + TORCH_ENTRIES_NEW];
static torch_allocator ours = {vtable + TORCH_BEFORE};

static __thread struct djlplan_torch_run *current;

torch_data_ptr djlplan_torch_engine_allocate(size_t bytes) {
    return engine_allocate(engine, bytes);
}

void djlplan_torch_free(void *block) {
    if (block == NULL || djlplan_replay_free(block)) return;
    djlplan_record_free(block);
    engine_free(block);
}

static torch_data_ptr allocate(const torch_allocator *self, size_t bytes) {
    (void)self;
    struct djlplan_torch_run *run = current;
    if (run == NULL) return djlplan_torch_engine_allocate(bytes);
    return run->recording ? djlplan_record_allocate(run, bytes)
                          : djlplan_replay_allocate(run, bytes);
}

/* For blocks that were allocated raw, by the engine's allocator or by ours. */
static torch_deleter raw_deleter(const torch_allocator *self) {
    (void)self;
    return djlplan_torch_free;
}

static int same_library(const void *a, const void *b) {
    Dl_info first, second;
    return a != NULL && b != NULL && dladdr(a, &first) && dladdr(b, &second) &&
           first.dli_fbase == second.dli_fbase;
}

/* Whether a small and an empty allocation look as torch_abi.h says. */
static const char *check_allocations(torch_raw_deleter raw) {
    torch_data_ptr block = engine_allocate(engine, 100);
    const char *problem = NULL;
    if (block.data == NULL || (uintptr_t)block.data % DJLPLAN_TORCH_ALIGNMENT != 0) {
        problem = "its blocks are not aligned as they should be";
    } else if (block.context != block.data || block.device_type != TORCH_DEVICE_CPU ||
               block.device_index != TORCH_NO_INDEX) {
        return "its DataPtr has another layout"; /* then nothing of it can be trusted, nor freed */
    } else if (!same_library((const void *)(uintptr_t)block.deleter, engine->vtable[TORCH_ALLOCATE]) ||
               raw(engine) != block.deleter) {
        return "its deleter is not where it should be";
    }
    engine_free = block.deleter;
    if (block.data != NULL) block.deleter(block.context);
    torch_data_ptr empty = engine_allocate(engine, 0);
    if (problem == NULL && empty.data != NULL) problem = "it allocates blocks of no bytes";
    return problem;
}

/* Reads the engine's virtual table and makes ours of it. */
static const char *check_layout(void *library, const void *set_allocator) {
    void **table = engine->vtable;
    void *is_simple = dlsym(library, TORCH_IS_SIMPLE_SYMBOL);
    int entries = is_simple == NULL ? TORCH_ENTRIES_OLD : TORCH_ENTRIES_NEW;
    int raw = is_simple == NULL ? TORCH_RAW_DELETER_OLD : TORCH_RAW_DELETER_NEW;
    if (!same_library(table, set_allocator)) return "it is not the engine's own";
    for (int i = 0; i < entries; i++) {
        if (!same_library(table[i], set_allocator)) return "its virtual table is not as expected";
    }
    if (is_simple != NULL && table[TORCH_IS_SIMPLE] != is_simple) {
        return "its virtual table has another order";
    }
    engine_allocate = (torch_allocate)(uintptr_t)table[TORCH_ALLOCATE];
    const char *problem = check_allocations((torch_raw_deleter)(uintptr_t)table[raw]);
    if (problem != NULL) return problem;
    memcpy(vtable, table - TORCH_BEFORE, (size_t)(TORCH_BEFORE + entries) * sizeof *table);
    ours.vtable[TORCH_ALLOCATE] = (void *)(uintptr_t)allocate;
    ours.vtable[raw] = (void *)(uintptr_t)raw_deleter;
    return NULL;
}

static const char *attach(void) {
    void *library = dlopen("libc10.so", RTLD_NOLOAD | RTLD_LAZY);
    if (library == NULL) return "libc10 is not loaded";
    void *set = dlsym(library, TORCH_SET_ALLOCATOR);
    void *get = dlsym(library, TORCH_GET_ALLOCATOR);
    const int8_t cpu = TORCH_DEVICE_CPU;
    if (set == NULL || get == NULL) return "libc10 has no function to set its allocator";
    engine = ((torch_get_allocator)(uintptr_t)get)(&cpu);
    if (engine == NULL || engine->vtable == NULL) return "libc10 has no CPU allocator";
    const char *problem = check_layout(library, set);
    if (problem != NULL) return problem;
    ((torch_set_allocator)(uintptr_t)set)(cpu, &ours, DJLPLAN_TORCH_PRIORITY);
    if (((torch_get_allocator)(uintptr_t)get)(&cpu) != &ours) {
        return "another allocator has precedence";
    }
    return NULL;
}

int djlplan_torch_attach(char *message, int64_t message_bytes) {
    pthread_mutex_lock(&lock);
    const char *problem = attached ? NULL : attach();
    attached = problem == NULL;
    pthread_mutex_unlock(&lock);
    if (problem != NULL && message_bytes > 0) {
        snprintf(message, (size_t)message_bytes, "libtorch's CPU allocator: %s", problem);
    }
    return problem != NULL;
}

int djlplan_torch_threads(void) {
    static int (*function)(void);
    if (function == NULL) {
        void *library = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
        void *symbol = library == NULL ? NULL : dlsym(library, TORCH_GET_NUM_THREADS);
        if (symbol == NULL) return -1;
        function = (int (*)(void))(uintptr_t)symbol;
    }
    return function();
}

struct djlplan_torch_run *djlplan_torch_record(void) {
    if (current != NULL) return NULL;
    return current = djlplan_record_begin();
}

struct djlplan_torch_run *djlplan_torch_replay(struct djlplan_torch_plan *plan, void *arena) {
    if (current != NULL) return NULL;
    return current = djlplan_replay_begin(plan, arena);
}

void djlplan_torch_pause(void) { current = NULL; }

void djlplan_torch_finish(struct djlplan_torch_run *run, int64_t *counters, int32_t *alive,
                          int capacity) {
    memset(counters, 0, DJLPLAN_COUNTERS * sizeof *counters);
    if (run->recording) {
        djlplan_record_finish(run);
    } else {
        djlplan_replay_finish(run, counters, alive, capacity);
    }
}
