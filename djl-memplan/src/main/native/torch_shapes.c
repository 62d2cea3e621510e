/*
 * Shapes of the tensors that operators return, for reports. libtorch exports how to ask a tensor for
 * its sizes, but neither what an operator returned nor where a tensor's numbers lie: that is read
 * where torch_abi.h says, and only if a tensor that we make is seen to be just so.
 */
#define _GNU_SOURCE
#include "torch_run.h"

#include <dlfcn.h>
#include <string.h>

/* Virtual tables begin with two entries that are not functions. */
enum { BEFORE_TABLE = 2, LEAST_ADDRESS = 1 << 16 };

/*
 * Written once, before djlplan_names_kept is first true: the virtual table of tensors that are
 * nothing but sizes, strides and a storage, how they tell their sizes, in how many words references
 * are counted, and where what an operator returns lies in it, 0 if any of that is not known.
 */
static const void *plain;
static torch_sizes (*sizes_of)(torch_object tensor);
static int count_words;
static size_t outputs_at;

/* The tensor that is known, while an operator returns it on this thread. */
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

/* Each library may have a table of its own, under the same name. */
static bool is_table(const void *table, const char *symbol) {
    Dl_info info;
    return dladdr(table, &info) != 0 && info.dli_sname != NULL &&
           strcmp(info.dli_sname, symbol) == 0 &&
           info.dli_saddr == (const void *)((const void *const *)table - BEFORE_TABLE);
}

/* What follows the counts of references. */
static const void *first_of(torch_object object, int words) { return object[1 + words]; }

/* In how many words the tensor, whose numbers are at an address, counts references; 0: unknown. */
static int find_count_words(torch_object tensor, const void *numbers) {
    /* Where the old layout has an address the new one has another, or none; the new one's is a
     * small count in the old layout, and no address. */
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

/* The tensor is small, made once, and kept. */
void djlplan_shapes_find(void) {
    static const int64_t known[] = {2, 3, 5, 7};
    const torch_sizes sizes = {known, sizeof known / sizeof *known};
    const torch_options options = {{0}};
    void *cpu = dlopen(TORCH_CPU, RTLD_NOLOAD | RTLD_LAZY);
    void *c10 = dlopen(TORCH_C10, RTLD_NOLOAD | RTLD_LAZY);
    if (cpu == NULL || c10 == NULL) return;
    void *tell = dlsym(c10, TORCH_SIZES), *numbers = dlsym(cpu, TORCH_FLOATS);
    void *make = dlsym(cpu, TORCH_EMPTY), *fill = dlsym(cpu, TORCH_ZERO);
    if (tell == NULL || numbers == NULL || make == NULL || fill == NULL) return;
    sizes_of = (torch_sizes(*)(torch_object))(uintptr_t)tell;
    torch_returned_tensor made = ((torch_returned_tensor(*)(
        torch_sizes, const torch_options *))(uintptr_t)make)(sizes, &options);
    sample = made.tensor;
    ((void *(*)(torch_returned_tensor *))(uintptr_t)fill)(&made);
    sample = NULL;
    plain = made.tensor[0];
    count_words = find_count_words(
        made.tensor, ((const void *(*)(const torch_returned_tensor *))(uintptr_t)numbers)(&made));
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
