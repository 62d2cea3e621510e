/* The record of xnnpack_workspace.c for each XNNPACK delegate. */
#ifndef DJLPLAN_XNNPACK_WORKSPACE_H
#define DJLPLAN_XNNPACK_WORKSPACE_H

#include <stdbool.h>

struct xnn_workspace;

/* The workspace of a delegate; initially unknown. */
struct workspace {
    const struct xnn_workspace *descriptor; /* XNNPACK's own, which lives as long as the delegate */
    int descriptors; /* allocated while the delegate was made; the workspace is known only if there is exactly 1 */
};

/* Enclose the creation of a delegate on this thread; _end returns its workspace. */
void djlplan_workspace_begin(void);
struct workspace djlplan_workspace_end(void);
/* While this thread allocates a model's tensors, workspaces get pages of their own. */
void djlplan_workspace_allocating(bool allocating);

#endif
