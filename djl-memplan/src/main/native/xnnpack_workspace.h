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

/* Between the two this thread makes a delegate, whose workspace the second returns. */
void djlplan_workspace_begin(void);
struct workspace djlplan_workspace_end(void);
/* While this thread allocates a model's tensors, workspaces get pages of their own. */
void djlplan_workspace_allocating(bool allocating);

#endif
