/* Finds libtorch's CPU allocator, and allocates and frees with it. */
#define _GNU_SOURCE
#include "torch_engine.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Written by djlplan_torch_engine_find only. */
static torch_allocator *engine;
static torch_allocate engine_allocate;
static torch_deleter engine_free;
static int engine_entries, engine_raw_deleter; /* of its virtual table */

torch_data_ptr djlplan_torch_engine_allocate(size_t bytes) {
    return engine_allocate(engine, bytes);
}

void djlplan_torch_engine_free(void *block) { engine_free(block); }

static bool same_library(const void *a, const void *b) {
    Dl_info first, second;
    return a != NULL && b != NULL && dladdr(a, &first) && dladdr(b, &second) &&
           first.dli_fbase == second.dli_fbase;
}

/*
 * Returns whether the library has a symbol for a table of exactly this size, so that no entry was
 * added to it.
 */
static bool has_entries(void **table, int entries) {
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1(table, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
           info.dli_saddr == (void *)(table - TORCH_BEFORE) &&
           symbol->st_size == (size_t)(TORCH_BEFORE + entries) * sizeof *table;
}

/*
 * Checks that a small and an empty allocation look as torch_abi.h says. Returns NULL or the
 * problem.
 */
static const char *check_allocations(torch_raw_deleter raw) {
    torch_data_ptr block = engine_allocate(engine, 100);
    /* A block with an unexpected layout cannot be freed, either. */
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

const char *djlplan_torch_engine_find(void *library, torch_allocator *allocator) {
    const void *set_allocator = dlsym(library, TORCH_SET_ALLOCATOR);
    engine = allocator;
    void **table = engine->vtable;
    void *is_simple = dlsym(library, TORCH_IS_SIMPLE_SYMBOL);
    engine_entries = is_simple == NULL ? TORCH_ENTRIES_OLD : TORCH_ENTRIES_NEW;
    engine_raw_deleter = is_simple == NULL ? TORCH_RAW_DELETER_OLD : TORCH_RAW_DELETER_NEW;
    if (!same_library(table, set_allocator)) return "it is not the engine's own";
    if (!has_entries(table, engine_entries)) return "its virtual table has another size";
    for (int i = 0; i < engine_entries; i++) {
        if (!same_library(table[i], set_allocator)) return "its virtual table is not as expected";
    }
    if (is_simple != NULL && table[TORCH_IS_SIMPLE] != is_simple) {
        return "its virtual table has another order";
    }
    engine_allocate = (torch_allocate)(uintptr_t)table[TORCH_ALLOCATE];
    return check_allocations((torch_raw_deleter)(uintptr_t)table[engine_raw_deleter]);
}

void djlplan_torch_engine_copy_table(void **to, torch_allocate allocate,
                                     torch_raw_deleter raw_deleter) {
    int entries = TORCH_BEFORE + engine_entries;
    memcpy(to, engine->vtable - TORCH_BEFORE, (size_t)entries * sizeof *to);
    to[TORCH_BEFORE + TORCH_ALLOCATE] = (void *)(uintptr_t)allocate;
    to[TORCH_BEFORE + engine_raw_deleter] = (void *)(uintptr_t)raw_deleter;
}
