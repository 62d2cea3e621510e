/*
 * A libc10.so with nothing but a CPU allocator, in the layout of libtorch 2.3 and later or, with
 * -DOLD_TABLE, of earlier versions. It can break one of the rules that djl-plan relies on.
 * -DNO_SETTER and -DNO_SIMPLE leave a symbol out.
 */
#define _GNU_SOURCE
#include "fake_c10.h"

#include "torch_abi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { HEADER = 64 };

/* A header before every block, to detect blocks freed twice or at another address. */
struct header {
    void *memory;
    size_t bytes;
    uint64_t state;
};
static const uint64_t in_use = 0x5ca1ab1e, freed = 0xdeadbea7;

static enum fake_fault fault;
static atomic_int live;
static char lost[4 * HEADER] __attribute__((aligned(64))); /* an address that is not a block */

/* With reuse, the last freed block, which the next allocation of the same size gets. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reuse;
static struct header *kept;

static void delete_block(void *block) {
    if (block == NULL) return;
    struct header *header = (struct header *)((char *)block - HEADER);
    if (header->state != in_use) abort();
    header->state = freed;
    atomic_fetch_sub(&live, 1);
    pthread_mutex_lock(&lock);
    struct header *old = header;
    if (reuse) {
        old = kept;
        kept = header;
    }
    pthread_mutex_unlock(&lock);
    if (old != NULL) free(old->memory);
}

static void delete_otherwise(void *block) { delete_block(block); }

static void *new_block(size_t bytes) {
    size_t before = fault == FAKE_MISALIGNED ? HEADER + 16 : HEADER;
    struct header *header = NULL;
    pthread_mutex_lock(&lock);
    if (kept != NULL && kept->bytes == bytes) {
        header = kept;
        kept = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (header == NULL) {
        char *memory;
        if (posix_memalign((void **)&memory, HEADER, before + bytes) != 0) abort();
        header = (struct header *)(memory + before - HEADER);
        header->memory = memory;
        header->bytes = bytes;
    }
    header->state = in_use;
    atomic_fetch_add(&live, 1);
    return (char *)header + HEADER;
}

static torch_data_ptr allocate(const torch_allocator *self, size_t bytes) {
    (void)self;
    torch_data_ptr block = {lost, delete_block, lost, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
    switch (fault) {
    case FAKE_NO_BLOCK: block.data = block.context = NULL; break;
    case FAKE_CONTEXT: block.context = lost + HEADER; break;
    case FAKE_DEVICE: block.device_type = 1; break;
    case FAKE_INDEX: block.device_index = 0; break;
    case FAKE_DELETER_OUTSIDE: block.deleter = free; break;
    case FAKE_DELETER_OTHER: block.deleter = delete_otherwise; break;
    default:
        block.data = bytes == 0 && fault != FAKE_EMPTY_BLOCK ? NULL : new_block(bytes);
        block.context = block.data;
    }
    return block;
}

static torch_deleter raw_deleter(const torch_allocator *self) {
    (void)self;
    return delete_block;
}

static void destroy(torch_allocator *self) {
    (void)self;
    abort();
}

#ifdef OLD_TABLE
enum { LENGTH = TORCH_BEFORE + TORCH_ENTRIES_OLD };
#define AFTER_ALLOCATE (void *)raw_deleter
#define MOVED AFTER_ALLOCATE
#else
enum { LENGTH = TORCH_BEFORE + TORCH_ENTRIES_NEW };
#define AFTER_ALLOCATE (void *)is_simple, (void *)raw_deleter, (void *)copy_data
#define MOVED (void *)raw_deleter, (void *)is_simple, (void *)copy_data
/* c10::Allocator::is_simple_data_ptr(c10::DataPtr const &) const */
#ifndef NO_SIMPLE
EXPORT
#endif
int is_simple(const torch_allocator *, const torch_data_ptr *) __asm__(TORCH_IS_SIMPLE_SYMBOL);
int is_simple(const torch_allocator *self, const torch_data_ptr *block) {
    (void)self;
    return block->data == block->context;
}

static void copy_data(const torch_allocator *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes);
}
#endif

/* Offset to top, RTTI, both destructors, before the entries that differ. */
#define BEFORE NULL, lost, (void *)destroy, (void *)destroy, (void *)allocate

/* "vtable for c10::DefaultCPUAllocator", and variants that replace it. */
EXPORT void *standard_table[] __asm__("_ZTVN3c1019DefaultCPUAllocatorE") = {BEFORE, AFTER_ALLOCATE};
EXPORT void *moved_table[] = {BEFORE, MOVED};
EXPORT void *longer_table[] = {BEFORE, AFTER_ALLOCATE, (void *)destroy};
EXPORT void *foreign_table[] = {BEFORE, AFTER_ALLOCATE};
static void *nameless_table[] = {BEFORE, AFTER_ALLOCATE};

_Static_assert(sizeof standard_table == LENGTH * sizeof(void *), "the table has another size");

static torch_allocator standard = {standard_table + TORCH_BEFORE};
static torch_allocator *current = &standard;

static void **table_for(enum fake_fault next, void **outside) {
    switch (next) {
    case FAKE_TABLE_MOVED: return moved_table;
    case FAKE_TABLE_LONGER: return longer_table;
    case FAKE_TABLE_NAMELESS: return nameless_table;
    case FAKE_TABLE_OUTSIDE: return memcpy(outside, standard_table, sizeof standard_table);
    case FAKE_ENTRY_OUTSIDE: foreign_table[LENGTH - 1] = (void *)free; return foreign_table;
    default: return standard_table;
    }
}

EXPORT void fake_c10_break(enum fake_fault next, void **outside) {
    fault = next;
    standard.vtable = table_for(next, outside) + TORCH_BEFORE;
}

EXPORT int fake_c10_live(void) { return atomic_load(&live); }

EXPORT void fake_c10_reuse(int next) {
    pthread_mutex_lock(&lock);
    struct header *old = kept;
    reuse = next;
    kept = NULL;
    pthread_mutex_unlock(&lock);
    if (old != NULL) free(old->memory);
}

#ifndef NO_SETTER
EXPORT void set_allocator(int8_t, torch_allocator *, uint8_t) __asm__(TORCH_SET_ALLOCATOR);
void set_allocator(int8_t device, torch_allocator *next, uint8_t priority) {
    if (device != TORCH_DEVICE_CPU || priority == 0) abort();
    if (fault != FAKE_SETTER_REFUSES) current = next;
}
#endif

EXPORT torch_allocator *get_allocator(const int8_t *) __asm__(TORCH_GET_ALLOCATOR);
torch_allocator *get_allocator(const int8_t *device) {
    if (*device != TORCH_DEVICE_CPU) abort();
    return fault == FAKE_NO_ALLOCATOR ? NULL : current;
}
