/*
 * Drives the code that takes over libtorch's allocator through good and bad uses, to be built with
 * sanitizers. usage: check_torch FAKE_C10 sound|one-thread|PROBLEM
 * `sound`: the library is as expected (or can be made so); `one-thread`: the same without threads
 * that predict at once; PROBLEM: the reason why attaching fails.
 * Prints OK.
 */
#define _GNU_SOURCE
#include "check_torch.h"

#include <dlfcn.h>
#include <pthread.h>

enum { MOST_ENTRIES = 16 };

void (*break_engine)(enum fake_fault fault, void **outside);
int (*live_blocks)(void);
void (*reuse_blocks)(int reuse);
static torch_get_allocator get_allocator;
static int raw_deleter_entry;

torch_allocator *allocator(void) {
    const int8_t cpu = TORCH_DEVICE_CPU;
    return get_allocator(&cpu);
}

torch_data_ptr allocate(size_t bytes) {
    torch_allocator *self = allocator();
    return ((torch_allocate)(uintptr_t)self->vtable[TORCH_ALLOCATE])(self, bytes);
}

void release(torch_data_ptr *block) {
    if (block->context != NULL) block->deleter(block->context);
    block->data = block->context = NULL;
}

static torch_deleter raw_deleter(void) {
    torch_allocator *self = allocator();
    return ((torch_raw_deleter)(uintptr_t)self->vtable[raw_deleter_entry])(self);
}

void *raw_allocate(size_t bytes) {
    torch_data_ptr block = allocate(bytes);
    CHECK(block.data == block.context);
    return block.data;
}

void raw_deallocate(void *block) { raw_deleter()(block); }

static void *release_there(void *block) {
    release(block);
    return NULL;
}

void release_elsewhere(torch_data_ptr *block) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, release_there, block) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

struct finish {
    struct djlplan_run *run;
    int64_t *counters;
};

static void *finish_there(void *arguments) {
    struct finish *finish = arguments;
    djlplan_run_finish(finish->run, finish->counters);
    return NULL;
}

void finish_elsewhere(struct djlplan_run *run, int64_t *counters) {
    struct finish finish = {run, counters};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, finish_there, &finish) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    return found;
}

/* Checks that attaching fails for this reason, and that the engine's allocator still works. */
static void check_refused(const char *problem) {
    torch_allocator *before = allocator();
    void **table = before == NULL ? NULL : before->vtable;
    int live = live_blocks();
    char message[256] = "";
    CHECK(djlplan_torch_attach(message, sizeof message) == 1);
    if (strstr(message, problem) == NULL) {
        fprintf(stderr, "\"%s\" and not \"%s\"\n", message, problem);
        exit(1);
    }
    char cut[5] = "....";
    CHECK(djlplan_torch_attach(cut, 4) == 1 && strcmp(cut, "lib") == 0);
    CHECK(djlplan_torch_attach(NULL, 0) == 1);
    CHECK(allocator() == before && live_blocks() == live);
    CHECK(before == NULL || before->vtable == table);
}

static void check_faults(int has_simple) {
    static const char *const problems[FAKE_FAULTS] = {
        [FAKE_NO_ALLOCATOR] = "has no CPU allocator",
        [FAKE_TABLE_OUTSIDE] = "is not the engine's own",
        [FAKE_TABLE_LONGER] = "table has another size",
        [FAKE_TABLE_NAMELESS] = "table has another size",
        [FAKE_TABLE_MOVED] = "table has another order",
        [FAKE_ENTRY_OUTSIDE] = "table is not as expected",
        [FAKE_NO_BLOCK] = "DataPtr has another layout",
        [FAKE_CONTEXT] = "DataPtr has another layout",
        [FAKE_DEVICE] = "DataPtr has another layout",
        [FAKE_INDEX] = "DataPtr has another layout",
        [FAKE_DELETER_OUTSIDE] = "deleter is not where it should be",
        [FAKE_DELETER_OTHER] = "deleter is not where it should be",
        [FAKE_MISALIGNED] = "not aligned",
        [FAKE_EMPTY_BLOCK] = "blocks of no bytes",
        [FAKE_SETTER_REFUSES] = "another allocator has precedence"};
    void **outside = calloc(MOST_ENTRIES, sizeof *outside);
    CHECK(outside != NULL);
    for (enum fake_fault fault = FAKE_SOUND + 1; fault < FAKE_FAULTS; fault++) {
        if (fault == FAKE_TABLE_MOVED && !has_simple) continue;
        break_engine(fault, outside);
        check_refused(problems[fault]);
    }
    break_engine(FAKE_SOUND, outside);
    free(outside);
}

/* Checks allocations before and after attaching; raw blocks may be freed by either side. */
static void check_attached(void) {
    torch_data_ptr before = allocate(100);
    void *raw = raw_allocate(300);
    torch_allocator *engine = allocator();
    char message[256] = "unchanged";
    CHECK(djlplan_torch_attach(message, sizeof message) == 0);
    CHECK(djlplan_torch_attach(message, sizeof message) == 0);
    CHECK(strcmp(message, "unchanged") == 0 && allocator() != engine);
    for (int i = -TORCH_BEFORE; i < TORCH_ALLOCATE; i++) {
        CHECK(allocator()->vtable[i] == engine->vtable[i]);
    }
    torch_data_ptr after = allocate(100), empty = allocate(0);
    CHECK(live_blocks() == 3 && empty.data == NULL && empty.context == NULL);
    CHECK(after.data == after.context && after.device_type == TORCH_DEVICE_CPU &&
          after.device_index == TORCH_NO_INDEX);
    raw_deallocate(raw);
    raw_deallocate(raw_allocate(5));
    raw_deallocate(NULL);
    release(&before);
    release(&after);
    release(&empty);
    CHECK(live_blocks() == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    char message[256] = "";
    CHECK(djlplan_torch_attach(message, sizeof message) == 1);
    CHECK(strstr(message, "libc10 is not loaded") != NULL);
    CHECK(djlplan_torch_settings() == -1);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    CHECK(library != NULL);
    break_engine = (void (*)(enum fake_fault, void **))(uintptr_t)symbol(library, "fake_c10_break");
    live_blocks = (int (*)(void))(uintptr_t)symbol(library, "fake_c10_live");
    reuse_blocks = (void (*)(int))(uintptr_t)symbol(library, "fake_c10_reuse");
    get_allocator = (torch_get_allocator)(uintptr_t)symbol(library, TORCH_GET_ALLOCATOR);
    int has_simple = dlsym(library, TORCH_IS_SIMPLE_SYMBOL) != NULL;
    raw_deleter_entry = has_simple ? TORCH_RAW_DELETER_NEW : TORCH_RAW_DELETER_OLD;
    int sound = strcmp(arguments[2], "sound") == 0;
    if (!sound && strcmp(arguments[2], "one-thread") != 0) {
        check_refused(arguments[2]);
    } else {
        check_faults(has_simple);
        check_attached();
        check_exit();
        check_online();
        check_replays();
        if (sound) check_threads();
        check_weights();
        CHECK(djlplan_torch_passes() == 0);
        CHECK(live_blocks() == 0);
    }
    puts("OK");
    return 0;
}
