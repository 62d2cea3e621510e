/* libtorch's own CPU allocator, to which the intercepting one delegates. */
#ifndef DJLPLAN_TORCH_ENGINE_H
#define DJLPLAN_TORCH_ENGINE_H

#include "djlplan.h"
#include "torch_abi.h"

/*
 * Checks that libc10's allocator has the layout of torch_abi.h. Returns NULL or the problem. Called
 * once; then any thread may call the functions below, behind a fence.
 */
const char *djlplan_torch_engine_find(void *library, torch_allocator *allocator);

/* Copies the allocator's virtual table and replaces two of its functions by the given ones. */
void djlplan_torch_engine_copy_table(void **to, torch_allocate allocate,
                                     torch_raw_deleter raw_deleter);

torch_data_ptr djlplan_torch_engine_allocate(size_t bytes);
void djlplan_torch_engine_free(void *block);

#endif
