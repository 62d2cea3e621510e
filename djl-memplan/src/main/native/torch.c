/* Takes libtorch's CPU allocator over and hands allocations to the run that is current. */
#define _GNU_SOURCE
#include "torch_run.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Above the allocators that libtorch and its libraries set. */
enum { PRIORITY = 127 };

/*
 * Guarded by attach_lock until we are attached. Then none of it changes, and the engine's threads
 * read it without the lock, behind a fence.
 */
static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static bool attached;
static torch_allocator *engine;
static torch_allocate engine_allocate;
static torch_deleter engine_free;
static void *vtable[TORCH_BEFORE + TORCH_ENTRIES_NEW];
static torch_allocator ours = {vtable + TORCH_BEFORE};

static _Thread_local struct djlplan_torch_run *current;

torch_data_ptr djlplan_torch_engine_allocate(size_t bytes) {
    return engine_allocate(engine, bytes);
}

void djlplan_torch_free(void *block) {
    if (block != NULL && !djlplan_run_free(block)) engine_free(block);
}

static torch_data_ptr allocate(const torch_allocator *self, size_t bytes) {
    (void)self;
    atomic_thread_fence(memory_order_acquire); /* to what attach() has written */
    struct djlplan_weights *weights = djlplan_weights_current;
    void *weight = weights == NULL ? NULL : djlplan_weights_allocate(weights, bytes);
    if (weight != NULL) return djlplan_torch_block(weight);
    struct djlplan_torch_run *run = current;
    if (run == NULL) return djlplan_torch_engine_allocate(bytes);
    torch_data_ptr block = djlplan_run_allocate(run, bytes);
    if (atomic_load_explicit(&djlplan_names_kept, memory_order_relaxed)) {
        djlplan_names_note(bytes, block.data);
    }
    return block;
}

/* For blocks that were allocated raw, by the engine's allocator or by ours. */
static torch_deleter raw_deleter(const torch_allocator *self) {
    (void)self;
    atomic_thread_fence(memory_order_acquire);
    return djlplan_torch_free;
}

static bool same_library(const void *a, const void *b) {
    Dl_info first, second;
    return a != NULL && b != NULL && dladdr(a, &first) && dladdr(b, &second) &&
           first.dli_fbase == second.dli_fbase;
}

/* Whether the library has a symbol for just this table: then nothing was added to it since. */
static bool has_entries(void **table, int entries) {
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1(table, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
           info.dli_saddr == (void *)(table - TORCH_BEFORE) &&
           symbol->st_size == (size_t)(TORCH_BEFORE + entries) * sizeof *table;
}

/* Whether a small and an empty allocation look as torch_abi.h says. */
static const char *check_allocations(torch_raw_deleter raw) {
    torch_data_ptr block = engine_allocate(engine, 100);
    /* What is not as it should be cannot be freed either. */
    if (block.data == NULL || block.context != block.data ||
        block.device_type != TORCH_DEVICE_CPU || block.device_index != TORCH_NO_INDEX) {
        return "its DataPtr has another layout";
    }
    if (!same_library((const void *)(uintptr_t)block.deleter, engine->vtable[TORCH_ALLOCATE]) ||
        raw(engine) != block.deleter) {
        return "its deleter is not where it should be";
    }
    engine_free = block.deleter;
    bool aligned = (uintptr_t)block.data % DJLPLAN_ALIGNMENT == 0;
    engine_free(block.data);
    torch_data_ptr empty = engine_allocate(engine, 0);
    if (empty.data != NULL) engine_free(empty.data);
    if (!aligned) return "its blocks are not aligned as they should be";
    return empty.data == NULL ? NULL : "it allocates blocks of no bytes";
}

/* Reads the engine's virtual table and makes ours of it. */
static const char *check_layout(void *library, const void *set_allocator) {
    void **table = engine->vtable;
    void *is_simple = dlsym(library, TORCH_IS_SIMPLE_SYMBOL);
    int entries = is_simple == NULL ? TORCH_ENTRIES_OLD : TORCH_ENTRIES_NEW;
    int raw = is_simple == NULL ? TORCH_RAW_DELETER_OLD : TORCH_RAW_DELETER_NEW;
    if (!same_library(table, set_allocator)) return "it is not the engine's own";
    if (!has_entries(table, entries)) return "its virtual table has another size";
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

static const char *attach_to(void *library) {
    void *set = dlsym(library, TORCH_SET_ALLOCATOR);
    void *get = dlsym(library, TORCH_GET_ALLOCATOR);
    const int8_t cpu = TORCH_DEVICE_CPU;
    if (set == NULL || get == NULL) return "libc10 has no function to set its allocator";
    engine = ((torch_get_allocator)(uintptr_t)get)(&cpu);
    if (engine == NULL || engine->vtable == NULL) return "libc10 has no CPU allocator";
    const char *problem = check_layout(library, set);
    if (problem != NULL) return problem;
    /* libtorch publishes its allocator with a plain store. */
    atomic_thread_fence(memory_order_release);
    ((torch_set_allocator)(uintptr_t)set)(cpu, &ours, PRIORITY);
    if (((torch_get_allocator)(uintptr_t)get)(&cpu) != &ours) {
        return "another allocator has precedence";
    }
    return NULL;
}

static const char *attach(void) {
    void *library = dlopen(TORCH_C10, RTLD_NOLOAD | RTLD_LAZY);
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
    if (problem != NULL && message_bytes > 0) {
        snprintf(message, (size_t)message_bytes, "libtorch's CPU allocator: %s", problem);
    }
    return problem == NULL ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

/*
 * Functions for what libtorch keeps for each thread; all NULL where one is missing, or libtorch is
 * not loaded. Written once, by has_settings.
 */
static struct {
    int (*threads)(void);
    void (*set_threads)(int);
    bool (*grad_mode)(void);
    void (*set_grad_mode)(bool);
    bool (*optimize)(void);
    void (*set_optimize)(bool);
} settings;

static void *function(const char *file, const char *symbol) {
    void *library = dlopen(file, RTLD_NOLOAD | RTLD_LAZY);
    return library == NULL ? NULL : dlsym(library, symbol);
}

/* Casts by way of uintptr_t: C has none from data to functions. */
static void find_settings(void) {
    void *found[] = {
        function(TORCH_CPU, TORCH_GET_NUM_THREADS), function(TORCH_CPU, TORCH_SET_NUM_THREADS),
        function(TORCH_C10, TORCH_GET_GRAD_MODE),   function(TORCH_C10, TORCH_SET_GRAD_MODE),
        function(TORCH_CPU, TORCH_GET_OPTIMIZE),    function(TORCH_CPU, TORCH_SET_OPTIMIZE)};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (found[i] == NULL) return;
    }
    settings.threads = (int (*)(void))(uintptr_t)found[0];
    settings.set_threads = (void (*)(int))(uintptr_t)found[1];
    settings.grad_mode = (bool (*)(void))(uintptr_t)found[2];
    settings.set_grad_mode = (void (*)(bool))(uintptr_t)found[3];
    settings.optimize = (bool (*)(void))(uintptr_t)found[4];
    settings.set_optimize = (void (*)(bool))(uintptr_t)found[5];
}

/* Looks for them once libtorch is loaded; no more, if it lacks one. */
static bool has_settings(void) {
    static atomic_bool looked;
    if (!atomic_load(&looked)) {
        pthread_mutex_lock(&attach_lock);
        bool loaded = dlopen(TORCH_CPU, RTLD_NOLOAD | RTLD_LAZY) != NULL;
        if (loaded && !atomic_load(&looked)) find_settings();
        atomic_store(&looked, loaded);
        pthread_mutex_unlock(&attach_lock);
        if (!loaded) return false;
    }
    return settings.threads != NULL;
}

int64_t djlplan_torch_settings(void) {
    if (!has_settings()) return -1;
    return (int64_t)settings.threads() | (settings.grad_mode() ? DJLPLAN_TORCH_GRAD : 0) |
           (settings.optimize() ? DJLPLAN_TORCH_OPTIMIZE : 0);
}

void djlplan_torch_set_settings(int64_t wanted) {
    if (wanted < 0 || !has_settings()) return;
    int threads = (int)(wanted & DJLPLAN_TORCH_THREADS);
    /* Also sets what threads to come begin with: only where it differs. */
    if (threads > 0 && threads != settings.threads()) settings.set_threads(threads);
    settings.set_grad_mode((wanted & DJLPLAN_TORCH_GRAD) != 0);
    settings.set_optimize((wanted & DJLPLAN_TORCH_OPTIMIZE) != 0);
}

struct djlplan_torch_run *djlplan_torch_begin(struct djlplan_torch_plan *plan, void *arena,
                                              struct djlplan_torch_escapes *escapes, int logged) {
    if (current != NULL) return NULL;
    current = djlplan_run_begin(plan, arena, escapes, logged);
    if (current != NULL) djlplan_torch_pass_begin();
    return current;
}

int djlplan_torch_pause(void) {
    struct djlplan_torch_run *run = current;
    if (run == NULL) return 0;
    current = NULL;
    djlplan_torch_pass_end();
    return djlplan_run_pause(run);
}
