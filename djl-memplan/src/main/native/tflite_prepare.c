/*
 * The wrapping delegate. It lets another delegate take the chosen operators, takes over the memory
 * of tensors from the engine, and replaces functions of nodes if a session needs that.
 */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <string.h>

/* TfLiteBuiltinOperator */
enum { DEQUANTIZE = 6, DENSIFY = 124 };

_Thread_local struct djlplan_tflite_session *djlplan_tflite_current;

static int by_address(const void *a, const void *b) {
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
    return (x->node > y->node) - (x->node < y->node);
}

static int32_t *find_id(const struct ids *ids, int32_t id) {
    return ids->count == 0
               ? NULL
               : bsearch(&id, ids->values, (size_t)ids->count, sizeof id, djlplan_compare_ids);
}

static bool contains(const struct ids *ids, int32_t id) { return find_id(ids, id) != NULL; }

/* ---- memory of tensors ----------------------------------------------------------------- */

/*
 * Takes a tensor over from the engine's arena planner, unless the engine allocates it in another
 * way.
 */
static void take(TfLiteTensor *tensor) {
    if (tensor->allocation_type == kTfLiteArenaRw && !tensor->is_variable) {
        tensor->allocation_type = kTfLiteCustom;
        tensor->data = NULL;
    }
}

static TfLiteTensor *wanted(const struct djlplan_tflite_session *session, int32_t id) {
    bool asked_for = id >= 0 && (size_t)id < session->graph.context->tensors_size &&
                     contains(&session->wanted, id);
    return asked_for ? &session->graph.context->tensors[id] : NULL;
}

static void take_wanted(const struct djlplan_tflite_session *session, const TfLiteIntArray *ids) {
    for (int i = 0; i < ids->size; i++) {
        TfLiteTensor *tensor = wanted(session, ids->data[i]);
        if (tensor != NULL) take(tensor);
    }
}

static void give_back(const struct djlplan_tflite_session *session, const TfLiteIntArray *ids) {
    for (int i = 0; i < ids->size; i++) {
        TfLiteTensor *tensor = wanted(session, ids->data[i]);
        if (tensor != NULL && djlplan_tflite_is_ours(tensor)) {
            tensor->allocation_type = kTfLiteArenaRw;
        }
    }
}

/* Resizes the tensors of the engine's arena to their shapes in another session. */
static TfLiteStatus take_shapes(const struct djlplan_tflite_session *session,
                                TfLiteContext *context) {
    if (session->shapes_of == NULL) return kTfLiteOk;
    const TfLiteContext *other = session->shapes_of->graph.context;
    TfLiteStatus status = kTfLiteOk;
    size_t count =
        context->tensors_size < other->tensors_size ? context->tensors_size : other->tensors_size;
    for (size_t i = 0; status == kTfLiteOk && i < count; i++) {
        TfLiteTensor *tensor = &context->tensors[i];
        const TfLiteTensor *shaped = &other->tensors[i];
        if (tensor->allocation_type != kTfLiteArenaRw || tensor->is_variable ||
            shaped->allocation_type == kTfLiteDynamic) {
            continue;
        }
        size_t bytes = sizeof *shaped->dims + sizeof(int) * (size_t)shaped->dims->size;
        TfLiteIntArray *dims = malloc(bytes); /* ResizeTensor frees it */
        if (dims == NULL) return kTfLiteError;
        memcpy(dims, shaped->dims, bytes);
        status = context->ResizeTensor(context, tensor, dims);
    }
    return status;
}

/* ---- functions of nodes ---------------------------------------------------------------- */

/* Returns the current session's record of a node; NULL if it has none. */
static struct node *node_of(const TfLiteContext *context, TfLiteNode *node) {
    const struct djlplan_tflite_session *session = djlplan_tflite_current;
    const struct graph *graph = session == NULL ? NULL : &session->graph;
    while (graph != NULL && graph->context != context) graph = graph->next;
    if (graph == NULL) return NULL;
    const struct node key = {.node = node}, *key_address = &key;
    struct node **found = bsearch(&key_address, graph->by_address, (size_t)graph->node_count,
                                  sizeof key_address, by_address);
    return found == NULL ? NULL : *found;
}

/* Prepares a kernel, and checks the inputs before it and the outputs after it. */
static TfLiteStatus prepare_kernel(TfLiteContext *context, const struct node *known) {
    struct djlplan_tflite_session *session = djlplan_tflite_current;
    if (!djlplan_guard_before(session, context, known->node, known->builtin_code)) {
        return kTfLiteError;
    }
    TfLiteStatus status = known->prepare == NULL ? kTfLiteOk : known->prepare(context, known->node);
    if (status == kTfLiteOutputShapeNotKnown) djlplan_guard_unknown(context, known->node);
    if (status != kTfLiteOk) return status;
    bool sound = djlplan_guard_after(session, context, known->node, known->builtin_code);
    return sound ? kTfLiteOk : kTfLiteError;
}

/*
 * Replaces a kernel's prepare function. Kernels choose their algorithm by the allocation type of
 * their inputs; for example, a convolution whose filter is in the engine's arena uses one thread.
 * So the kernel first sees the tensors as in a stock interpreter; then the session takes over the
 * tensors, and the temporaries that the kernel requested.
 */
static TfLiteStatus prepare_node(TfLiteContext *context, TfLiteNode *node) {
    const struct node *known = node_of(context, node);
    if (known == NULL) return kTfLiteError;
    struct djlplan_tflite_session *session = djlplan_tflite_current;
    bool places = session->temporaries && context == session->graph.context;
    if (!places) return prepare_kernel(context, known);
    give_back(session, node->inputs);
    give_back(session, node->outputs);
    TfLiteStatus status = prepare_kernel(context, known);
    take_wanted(session, node->inputs);
    take_wanted(session, node->outputs);
    if (status != kTfLiteOk || node->temporaries == NULL) return status;
    for (int i = 0; i < node->temporaries->size; i++) {
        int id = node->temporaries->data[i];
        if (id >= 0 && (size_t)id < context->tensors_size) take(&context->tensors[id]);
    }
    bool taken = !session->streaming.wanted || djlplan_tflite_take_derived(session, known);
    return taken ? kTfLiteOk : kTfLiteError;
}

/*
 * Replaces a node's invoke function in a timed or streamed session, and if computed operands must
 * be checked.
 */
static TfLiteStatus invoke_node(TfLiteContext *context, TfLiteNode *node) {
    struct node *known = node_of(context, node);
    if (known == NULL) return kTfLiteError;
    struct djlplan_tflite_session *session = djlplan_tflite_current;
    if (known->computed && !djlplan_guard_operands(session, context, node, known->builtin_code)) {
        return kTfLiteError;
    }
    if (session->streaming.stream != NULL && context == session->graph.context) {
        return djlplan_tflite_invoke_step(session, known);
    }
    if (!session->timed) return known->invoke(context, node);
    int64_t start = djlplan_now_nanos();
    TfLiteStatus status = known->invoke(context, node);
    known->nanos = djlplan_now_nanos() - start;
    return status;
}

/* ---- the other delegate ---------------------------------------------------------------- */

static bool append(struct ids *ids, const TfLiteIntArray *more) {
    size_t bytes = sizeof(int32_t) * ((size_t)ids->count + (size_t)more->size + 1);
    int32_t *values = realloc(ids->values, bytes);
    if (values == NULL) return false;
    ids->values = values;
    values[ids->count++] = more->size;
    memcpy(values + ids->count, more->data, sizeof(int32_t) * (size_t)more->size);
    ids->count += more->size;
    return true;
}

static TfLiteStatus note_partitions(struct djlplan_tflite_session *session, TfLiteContext *context,
                                    const TfLiteIntArray *nodes) {
    TfLiteDelegateParams *partitions;
    int count;
    TfLiteStatus status = context->PreviewDelegatePartitioning(context, nodes, &partitions, &count);
    for (int i = 0; status == kTfLiteOk && i < count; i++) {
        if (!append(&session->delegation.partitions, partitions[i].nodes_to_replace)) {
            return kTfLiteError;
        }
    }
    return status;
}

/*
 * Returns which of the requested nodes the other delegate gets: the chosen ones, or none in a
 * preview. The caller frees the list. Returns NULL on error.
 */
static TfLiteIntArray *granted(TfLiteContext *context, const TfLiteIntArray *nodes) {
    struct djlplan_tflite_session *session = djlplan_tflite_current;
    const struct delegation *delegation = &session->delegation;
    TfLiteIntArray *chosen = malloc(sizeof(TfLiteIntArray) + sizeof(int) * (size_t)nodes->size);
    if (chosen == NULL) return NULL;
    chosen->size = 0;
    if (delegation->kind == DELEGATES_PREVIEW) {
        if (note_partitions(session, context, nodes) == kTfLiteOk) return chosen;
        free(chosen);
        return NULL;
    }
    for (int i = 0; i < nodes->size; i++) {
        if (contains(&delegation->chosen.operators, nodes->data[i])) {
            chosen->data[chosen->size++] = nodes->data[i];
        }
    }
    return chosen;
}

/* Replaces ReplaceNodeSubsetsWithDelegateKernels while the other delegate prepares. */
static TfLiteStatus replace_chosen(TfLiteContext *context, TfLiteRegistration kernel,
                                   const TfLiteIntArray *nodes, TfLiteDelegate *delegate) {
    TfLiteIntArray *chosen = granted(context, nodes);
    if (chosen == NULL) return kTfLiteError;
    TfLiteReplaceFunction replace = djlplan_tflite_current->delegation.replace;
    TfLiteStatus status =
        chosen->size == 0 ? kTfLiteOk : replace(context, kernel, chosen, delegate);
    free(chosen);
    return status;
}

/* Like replace_chosen, for releases with larger registrations. */
static TfLiteStatus later_replace_chosen(TfLiteContext *context, TfLiteLaterRegistration kernel,
                                         const TfLiteIntArray *nodes, TfLiteDelegate *delegate) {
    TfLiteIntArray *chosen = granted(context, nodes);
    if (chosen == NULL) return kTfLiteError;
    TfLiteLaterReplaceFunction replace = djlplan_tflite_current->delegation.later_replace;
    TfLiteStatus status =
        chosen->size == 0 ? kTfLiteOk : replace(context, kernel, chosen, delegate);
    free(chosen);
    return status;
}

static bool unpacks(const TfLiteRegistration *registration) {
    return registration->builtin_code == DEQUANTIZE || registration->builtin_code == DENSIFY;
}

/*
 * Returns whether the delegate sees a node: a chosen one, or one that unpacks a constant for a
 * visible node. Nodes come in reverse order; `read` marks the tensors that visible nodes read so
 * far.
 */
static bool is_shown(const struct ids *chosen, TfLiteContext *context, int id, bool *read) {
    TfLiteNode *node;
    TfLiteRegistration *registration;
    if (context->GetNodeAndRegistration(context, id, &node, &registration) != kTfLiteOk) {
        return false;
    }
    bool shown =
        contains(chosen, id) || (unpacks(registration) && node->outputs->size == 1 &&
                                 node->outputs->data[0] >= 0 && read[node->outputs->data[0]]);
    for (int i = 0; shown && i < node->inputs->size; i++) {
        if (node->inputs->data[i] >= 0) read[node->inputs->data[i]] = true;
    }
    return shown;
}

/* Selects the visible part of the execution plan; `read` and `show` are zeroed scratch memory. */
static void pick_shown(const struct delegation *delegation, TfLiteContext *context,
                       const TfLiteIntArray *all, bool *read, bool *show) {
    for (int i = all->size - 1; i >= 0; i--) {
        show[i] = is_shown(&delegation->chosen.operators, context, all->data[i], read);
    }
    TfLiteIntArray *shown = delegation->chosen.shown;
    shown->size = 0;
    for (int i = 0; i < all->size; i++) {
        if (show[i]) shown->data[shown->size++] = all->data[i];
    }
}

/* Replaces GetExecutionPlan: returns the execution plan that the other delegate sees. */
static TfLiteStatus shown_plan(TfLiteContext *context, TfLiteIntArray **plan) {
    struct delegation *delegation = &djlplan_tflite_current->delegation;
    TfLiteIntArray *all;
    TfLiteStatus status = delegation->get_plan(context, &all);
    if (status != kTfLiteOk) return status;
    bool *read = djlplan_zeroed_plus_one((int)context->tensors_size, sizeof *read);
    bool *show = djlplan_zeroed_plus_one(all->size, sizeof *show);
    free(delegation->chosen.shown);
    delegation->chosen.shown = malloc(sizeof(TfLiteIntArray) + sizeof(int) * (size_t)all->size);
    if (read == NULL || show == NULL || delegation->chosen.shown == NULL) {
        status = kTfLiteError;
    } else {
        pick_shown(delegation, context, all, read, show);
        *plan = delegation->chosen.shown;
    }
    free(read);
    free(show);
    return status;
}

/* Swaps the addresses of constants with those that they have for the other delegate. */
static bool exchange_constants(struct delegation *delegation, TfLiteContext *context) {
    for (int i = 0; i < delegation->constant_count; i++) {
        struct constant *constant = &delegation->constants[i];
        if (constant->tensor < 0 || (size_t)constant->tensor >= context->tensors_size ||
            context->tensors[constant->tensor].allocation_type != kTfLiteMmapRo) {
            return false;
        }
    }
    for (int i = 0; i < delegation->constant_count; i++) {
        struct constant *constant = &delegation->constants[i];
        void *data = context->tensors[constant->tensor].data;
        context->tensors[constant->tensor].data = constant->data;
        constant->data = data;
    }
    return true;
}

/*
 * Prepares the other delegate, which sees only the chosen operators and those that unpack their
 * constants, because XNNPACK keeps an unpacked copy of every constant that visible operators read.
 */
static TfLiteStatus delegate_chosen(struct delegation *delegation, TfLiteContext *context) {
    if (delegation->kind == DELEGATES_NOTHING) return kTfLiteOk;
    delegation->replace = context->ReplaceNodeSubsetsWithDelegateKernels;
    delegation->get_plan = context->GetExecutionPlan;
    if (djlplan_tflite_release->registration_bytes == sizeof(TfLiteRegistration)) {
        context->ReplaceNodeSubsetsWithDelegateKernels = replace_chosen;
    } else {
        context->LaterReplaceNodeSubsetsWithDelegateKernels = later_replace_chosen;
    }
    if (delegation->kind == DELEGATES_CHOSEN) context->GetExecutionPlan = shown_plan;
    TfLiteStatus status = kTfLiteError;
    if (exchange_constants(delegation, context)) {
        status = delegation->real->Prepare(context, delegation->real);
        exchange_constants(delegation, context);
    }
    context->GetExecutionPlan = delegation->get_plan;
    context->ReplaceNodeSubsetsWithDelegateKernels = delegation->replace;
    return status;
}

/* Removes the ids that the engine keeps from a list. */
static void leave(struct ids *ids, const TfLiteIntArray *to_engine) {
    for (int i = 0; i < to_engine->size; i++) {
        int32_t *found = find_id(ids, to_engine->data[i]);
        if (found == NULL) continue;
        int64_t after = ids->values + ids->count - (found + 1);
        memmove(found, found + 1, sizeof(int32_t) * (size_t)after);
        ids->count--;
    }
}

/* ---- all together ---------------------------------------------------------------------- */

/* Hooks a node of a graph. Of graphs that operators call, kernels are only checked. */
static void stand_in(const struct djlplan_tflite_session *session, const struct graph *graph,
                     const struct node *known, TfLiteRegistration *registration) {
    bool main = graph == &session->graph;
    /* An operator that the engine does not have lacks both functions. */
    bool prepared = (main && session->temporaries) || registration->prepare != NULL;
    if (prepared && known->node->delegate == NULL) registration->prepare = prepare_node;
    if (known->computed || (main && (session->timed || session->streaming.wanted))) {
        registration->invoke = invoke_node;
    }
}

/*
 * Returns where a kernel's output may lie (inplace_operator), −1 if the release does not report it.
 */
static int32_t in_place(const TfLiteRegistration *registration) {
    if (!djlplan_tflite_tells_in_place()) return -1;
    const TfLiteLaterRegistration *later = (const TfLiteLaterRegistration *)registration;
    return (int32_t)(later->inplace_operator & INT32_MAX);
}

/* Checks that nodes lie in a row, each followed by its registration. */
static bool lies_as_declared(TfLiteContext *context, int id, const TfLiteNode *node,
                             const TfLiteRegistration *registration) {
    int64_t distance = (int64_t)sizeof *node + djlplan_tflite_release->registration_bytes;
    TfLiteNode *first;
    TfLiteRegistration *first_registration;
    return context->GetNodeAndRegistration(context, 0, &first, &first_registration) == kTfLiteOk &&
           (const char *)registration == (const char *)(node + 1) &&
           (const char *)node - (const char *)first == id * distance;
}

static bool is_computed(const TfLiteContext *context, const TfLiteNode *node,
                        const TfLiteRegistration *registration) {
    return node->delegate == NULL &&
           djlplan_guard_computed(context, node, registration->builtin_code);
}

/* Reads a graph's execution plan, which now has delegate kernels, and hooks its nodes. */
static TfLiteStatus read_plan(const struct djlplan_tflite_session *session, struct graph *graph) {
    TfLiteContext *context = graph->context;
    TfLiteIntArray *plan;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    if (status != kTfLiteOk) return status;
    graph->nodes = djlplan_zeroed_plus_one(plan->size, sizeof *graph->nodes);
    graph->by_address = djlplan_zeroed_plus_one(plan->size, sizeof(struct node *));
    if (graph->nodes == NULL || graph->by_address == NULL) return kTfLiteError;
    for (int i = 0; i < plan->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        status = context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
        if (status != kTfLiteOk) return status;
        if (!lies_as_declared(context, plan->data[i], node, registration)) return kTfLiteError;
        graph->nodes[i] = (struct node){.node = node,
                                        .id = plan->data[i],
                                        .builtin_code = registration->builtin_code,
                                        .in_place = in_place(registration),
                                        .prepare = registration->prepare,
                                        .invoke = registration->invoke,
                                        .computed = is_computed(context, node, registration)};
        graph->by_address[i] = &graph->nodes[i];
        graph->node_count++;
        stand_in(session, graph, &graph->nodes[i], registration);
    }
    qsort(graph->by_address, (size_t)graph->node_count, sizeof(struct node *), by_address);
    return kTfLiteOk;
}

/*
 * Takes over the tensors that the caller places. Tensors of delegate kernels that read addresses
 * only once stay in the engine's memory, because arenas move.
 */
static void take_tensors(struct djlplan_tflite_session *session) {
    for (int i = 0; i < session->graph.node_count; i++) {
        const TfLiteNode *node = session->graph.nodes[i].node;
        if (node->delegate != NULL &&
            (session->streaming.wanted || !djlplan_tflite_rebinds(node->delegate))) {
            leave(&session->wanted, node->inputs);
            leave(&session->wanted, node->outputs);
        }
    }
    for (int i = 0; i < session->graph.node_count; i++) {
        take_wanted(session, session->graph.nodes[i].node->inputs);
        take_wanted(session, session->graph.nodes[i].node->outputs);
    }
}

static TfLiteStatus read_called(struct djlplan_tflite_session *session, TfLiteContext *context) {
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) return kTfLiteError;
    *graph = (struct graph){.context = context, .next = session->graph.next};
    session->graph.next = graph;
    return read_plan(session, graph);
}

/* The engine calls this for each graph, the model's main one first. */
TfLiteStatus djlplan_tflite_prepare(TfLiteContext *context, TfLiteDelegate *wrapper) {
    struct djlplan_tflite_session *session = wrapper->data;
    if (session->graph.context != NULL) return read_called(session, context);
    session->graph.context = context;
    TfLiteStatus status = take_shapes(session, context);
    if (status == kTfLiteOk) status = delegate_chosen(&session->delegation, context);
    if (status == kTfLiteOk) status = read_plan(session, &session->graph);
    if (status == kTfLiteOk) take_tensors(session);
    return status;
}
