/* libtorch's own CPU allocator, below ours. */
#ifndef DJLPLAN_TORCH_ENGINE_H
#define DJLPLAN_TORCH_ENGINE_H

#include "djlplan.h"
#include "torch_abi.h"

/*
 * Checks that libc10's allocator is as torch_abi.h says. Returns NULL, or why it is not. Called
 * once; then the functions below may be called from any thread, behind a fence.
 */
const char *djlplan_torch_engine_find(void *library, torch_allocator *allocator);

/* Copies its virtual table, of which the given functions replace two. */
void djlplan_torch_engine_copy_table(void **to, torch_allocate allocate,
                                     torch_raw_deleter raw_deleter);

torch_data_ptr djlplan_torch_engine_allocate(size_t bytes);
void djlplan_torch_engine_free(void *block);

#endif
