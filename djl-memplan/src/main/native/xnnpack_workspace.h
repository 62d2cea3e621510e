/* What xnnpack_workspace.c keeps of each of XNNPACK's delegates. */
#ifndef DJLPLAN_XNNPACK_WORKSPACE_H
#define DJLPLAN_XNNPACK_WORKSPACE_H

#include <stdbool.h>

struct xnn_workspace;

/* The workspace of a delegate, as far as we know of it: none at first. */
struct workspace {
    const struct xnn_workspace *descriptor; /* XNNPACK's own, which lives as long as the delegate */
    int descriptors; /* that were made with the delegate: with any number but 1 it is not known */
};

/* While this thread makes a delegate, its workspace is noted there; NULL: no longer. */
void djlplan_workspace_note(struct workspace *workspace);
/* While this thread allocates a model's tensors, workspaces get pages of their own. */
void djlplan_workspace_allocating(bool allocating);

#endif
