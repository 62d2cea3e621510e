/* Counts passes through libtorch, and ends the process without destructors in the middle of one. */
#define _GNU_SOURCE /* on_exit */
#include "torch_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int passes;
static atomic_bool ending; /* exit() found no pass under way */

void djlplan_torch_pass_begin(void) {
    atomic_fetch_add(&passes, 1);
    /* What it would use is being destroyed: the process ends before it would. */
    while (atomic_load(&ending)) pause();
}

void djlplan_torch_pass_end(void) { atomic_fetch_sub(&passes, 1); }

int djlplan_torch_passes(void) { return atomic_load(&passes); }

static void end_in_mid_pass(int status, void *unused) {
    (void)unused;
    atomic_store(&ending, true); /* before passes are counted: none begins unseen */
    if (atomic_load(&passes) == 0) return;
    fflush(NULL);
    _exit(status);
}

int djlplan_torch_guard_exit(void) {
    return on_exit(end_in_mid_pass, NULL) == 0 ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}
