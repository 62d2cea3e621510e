/*
 * Reads the shapes of tensors that operators return, for reports. libtorch exports a function for a
 * tensor's sizes, but none for an operator's outputs or a tensor's address. This file reads these
 * at the offsets of torch_abi.h, and only after a tensor made here has confirmed the offsets.
 */
#define _GNU_SOURCE
#include "torch_names.h"

#include "functions.h"

/* Virtual tables begin with two entries that are not functions. */
enum { BEFORE_TABLE = 2, LEAST_ADDRESS = 1 << 16 };

/*
 * Written once, before djlplan_names_kept is first true: the virtual table of plain tensors (sizes,
 * strides and a storage), the function that returns their sizes, the words of a reference count,
 * and the offset of an operator's outputs. 0 if any of them is unknown.
 */
static const void *plain;
static torch_sizes (*sizes_of)(torch_object tensor);
static int count_words;
static size_t outputs_at;

/* The known tensor, while an operator returns it on this thread. */
static _Thread_local torch_object sample;

static const torch_values *values_at(const void *function, size_t at) {
    return (const torch_values *)(const void *)((const char *)function + at);
}

static void find_outputs(const void *function) {
    static const size_t places[] = {TORCH_OUTPUTS_OLD, TORCH_OUTPUTS_NEW};
    for (size_t i = 0; i < sizeof places / sizeof *places && outputs_at == 0; i++) {
        const torch_values *values = values_at(function, places[i]);
        if (values->begin != NULL && (uintptr_t)values->begin % sizeof(void *) == 0 &&
            (uintptr_t)values->end - (uintptr_t)values->begin == sizeof(torch_value) &&
            values->begin->tag == TORCH_TENSOR && values->begin->payload == sample) {
            outputs_at = places[i];
        }
    }
}

/* Compares names, because each library may have its own table under the same name. */
static bool is_table(const void *table, const char *symbol) {
    Dl_info info;
    return dladdr(table, &info) != 0 && info.dli_sname != NULL &&
           strcmp(info.dli_sname, symbol) == 0 &&
           info.dli_saddr == (const void *)((const void *const *)table - BEFORE_TABLE);
}

/* Returns the word after the reference counts. */
static const void *first_of(torch_object object, int words) { return object[1 + words]; }

/* Returns how many words a tensor with known data uses for each reference count; 0 if unknown. */
static int find_count_words(torch_object tensor, const void *numbers) {
    /*
     * The offset of the old layout's address holds another address or none in the new one. The
     * offset of the new layout's address holds a small count in the old one.
     */
    static const int words[] = {TORCH_COUNT_WORDS_OLD, TORCH_COUNT_WORDS_NEW};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        torch_object storage = first_of(tensor, words[i]);
        if ((uintptr_t)storage >= LEAST_ADDRESS && (uintptr_t)storage % sizeof(void *) == 0 &&
            is_table(storage[0], TORCH_STORAGE_TABLE) && first_of(storage, words[i]) == numbers) {
            return words[i];
        }
    }
    return 0;
}

/* Makes a small tensor once, and never frees it. */
void djlplan_shapes_find(void) {
    static const int64_t known[] = {2, 3, 5, 7};
    const torch_sizes sizes = {known, sizeof known / sizeof *known};
    const torch_options options = {{0}};
    void *cpu = djlplan_loaded(TORCH_CPU), *c10 = djlplan_loaded(TORCH_C10);
    torch_returned_tensor (*make)(torch_sizes, const torch_options *);
    const void *(*numbers)(const torch_returned_tensor *);
    void *(*fill)(torch_returned_tensor *);
    if (!djlplan_find(c10, TORCH_SIZES, &sizes_of) || !djlplan_find(cpu, TORCH_EMPTY, &make) ||
        !djlplan_find(cpu, TORCH_FLOATS, &numbers) || !djlplan_find(cpu, TORCH_ZERO, &fill)) {
        return;
    }
    torch_returned_tensor made = make(sizes, &options);
    sample = made.tensor;
    fill(&made);
    sample = NULL;
    plain = made.tensor[0];
    count_words = find_count_words(made.tensor, numbers(&made));
    torch_sizes told = sizes_of(made.tensor);
    if (!is_table(plain, TORCH_TENSOR_TABLE) || count_words == 0 || told.count != sizes.count ||
        memcmp(told.values, known, sizeof known) != 0) {
        outputs_at = 0;
    }
}

void djlplan_shapes_visit(const void *function,
                          void (*visit)(const void *block, torch_sizes sizes)) {
    if (sample != NULL) find_outputs(function);
    if (visit == NULL || outputs_at == 0) return;
    const torch_values *values = values_at(function, outputs_at);
    for (const torch_value *value = values->begin; value < values->end; value++) {
        torch_object tensor = value->payload;
        if (value->tag != TORCH_TENSOR || tensor == NULL || tensor[0] != plain) continue;
        torch_object storage = first_of(tensor, count_words);
        if (storage != NULL) visit(first_of(storage, count_words), sizes_of(tensor));
    }
}
