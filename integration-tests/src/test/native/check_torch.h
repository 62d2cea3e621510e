/* Shared by the checks of the allocator: the engine as libtorch's code sees it. */
#ifndef CHECK_TORCH_H
#define CHECK_TORCH_H

#include "arena.h"
#include "check.h"
#include "fake_c10.h"
#include "torch_abi.h"

#include <string.h>

/* The functions of fake_c10.c, which is loaded at run time. */
extern void (*break_engine)(enum fake_fault fault, void **outside);
extern int (*live_blocks)(void);
extern void (*reuse_blocks)(int reuse);

torch_allocator *allocator(void);
torch_data_ptr allocate(size_t bytes);
/* Frees a block like the destructor of a DataPtr. */
void release(torch_data_ptr *block);
/* Allocate and free like c10::Allocator::raw_allocate and raw_deallocate. */
void *raw_allocate(size_t bytes);
void raw_deallocate(void *block);
/* Frees a block, or finishes a run, on another thread. */
void release_elsewhere(torch_data_ptr *block);
void finish_elsewhere(struct djlplan_run *run, int64_t *counters);

void check_exit(void);
void check_online(void);
void check_replays(void);
void check_threads(void);
void check_weights(void);

#endif
