/*
 * Counts passes through libtorch, and ends the process without destructors if exit() is called
 * during a pass.
 */
#define _GNU_SOURCE /* on_exit */
#include "djlplan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int passes;
static atomic_bool ending; /* exit() found no running pass */

void djlplan_torch_pass_begin(void) {
    atomic_fetch_add(&passes, 1);
    /* Destructors run now, so a new pass waits for the end of the process. */
    while (atomic_load(&ending)) pause();
}

void djlplan_torch_pass_end(void) { atomic_fetch_sub(&passes, 1); }

int djlplan_torch_passes(void) { return atomic_load(&passes); }

static void end_in_mid_pass(int status, void *unused) {
    (void)unused;
    atomic_store(&ending, true); /* set before passes are counted, so that none begins unnoticed */
    if (atomic_load(&passes) == 0) return;
    fflush(NULL);
    _exit(status);
}

int djlplan_torch_guard_exit(void) {
    return on_exit(end_in_mid_pass, NULL) == 0 ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}
