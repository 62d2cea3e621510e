/* The operators and the shapes of libtorch's allocations, for reports. */
#ifndef DJLPLAN_TORCH_NAMES_H
#define DJLPLAN_TORCH_NAMES_H

#include "djlplan.h"
#include "torch_abi.h"

#include <stdatomic.h>

/*
 * torch_names.c: whether the operators of allocations are recorded; and a function that records
 * one.
 */
extern atomic_bool djlplan_names_kept;
void djlplan_names_note(size_t bytes, const void *block);

/*
 * torch_shapes.c: _find learns the layout of tensors by asking libtorch about a known tensor, while
 * operators are observed. _visit visits the tensors that an ending operator returns, if each has a
 * block of its own; without a successful _find, or if the function is NULL, it visits none.
 */
void djlplan_shapes_find(void);
void djlplan_shapes_visit(const void *function,
                          void (*visit)(const void *block, torch_sizes sizes));

#endif
