/*
 * Places tensors for input shapes without a plan, faster than the engine prepares them: the largest
 * tensor first, each in the lowest gap between tensors that are alive with it. An operator's output
 * takes over an input's place if the engine allows it.
 */
#include "tflite_session.h"

#include <stdio.h>

/* TfLiteInPlaceOp */
enum { DATA_UNMODIFIED = 1, INPUT_0_SHARED = 4, MOST_INPUTS_SHARED = 3 };

/* Tensors that use the same place in turn, with their first and last step. */
struct unit {
    int64_t bytes;
    int64_t offset;
    int first;
    int last;
};

/* A tensor that the caller places: the steps that use it, and its unit. */
struct use {
    int first; /* -1 for a tensor that gets no place */
    int last;
    struct unit *unit;
};

struct fit {
    struct use *uses; /* by tensor */
    struct unit *units;
    struct unit **by_size;
    struct unit **placed; /* by offset */
    int unit_count;
};

static void note(struct fit *fit, const TfLiteContext *context, int32_t id, int step) {
    if (id < 0 || (size_t)id >= context->tensors_size) return;
    const TfLiteTensor *tensor = &context->tensors[id];
    if (!djlplan_tflite_is_ours(tensor) || tensor->bytes == 0) return;
    struct use *use = &fit->uses[id];
    if (use->first < 0) use->first = step;
    use->last = step;
}

static void note_all(struct fit *fit, const TfLiteContext *context, const TfLiteIntArray *ids,
                     int step) {
    for (int i = 0; ids != NULL && i < ids->size; i++) note(fit, context, ids->data[i], step);
}

/* Returns whether the size of a tensor becomes known only when a kernel runs. */
static bool has_unknown(const TfLiteContext *context, const TfLiteIntArray *ids) {
    for (int i = 0; i < ids->size; i++) {
        int32_t id = ids->data[i];
        if (id >= 0 && context->tensors[id].allocation_type == kTfLiteDynamic) return true;
    }
    return false;
}

static bool same_shape(const TfLiteTensor *one, const TfLiteTensor *other) {
    if (one->dims->size != other->dims->size) return false;
    for (int i = 0; i < one->dims->size; i++) {
        if (one->dims->data[i] != other->dims->data[i]) return false;
    }
    return true;
}

/* Returns the input whose place a node's output takes over, −1 for none. */
static int32_t input_to_take(const struct fit *fit, const TfLiteContext *context,
                             const struct node *known, int step) {
    const TfLiteNode *node = known->node;
    if (known->in_place <= 0 || node->delegate != NULL || node->outputs->size != 1) return -1;
    int32_t output = node->outputs->data[0];
    if (output < 0 || fit->uses[output].first != step) return -1;
    for (int i = 0; i < node->inputs->size; i++) {
        if (node->inputs->data[i] < 0) return -1;
    }
    for (int i = 0; i < node->inputs->size && i < MOST_INPUTS_SHARED; i++) {
        int32_t input = node->inputs->data[i];
        const struct use *use = &fit->uses[input];
        const TfLiteTensor *from = &context->tensors[input], *to = &context->tensors[output];
        bool shared = (known->in_place & INPUT_0_SHARED << i) != 0;
        bool ends = use->first >= 0 && use->first < step && use->last == step;
        bool alike = from->type == to->type && from->bytes == to->bytes &&
                     ((known->in_place & DATA_UNMODIFIED) != 0 || same_shape(from, to));
        if (shared && ends && alike) return input;
    }
    return -1;
}

static int by_size(const void *a, const void *b) {
    const struct unit *x = *(struct unit *const *)a, *y = *(struct unit *const *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return (x > y) - (x < y);
}

static bool overlap(const struct unit *one, const struct unit *other) {
    return one->first <= other->last && other->first <= one->last;
}

/* Puts a unit into the lowest free place. Placed units are sorted by offset. */
static void place_unit(struct fit *fit, struct unit *unit, int placed) {
    int64_t offset = 0;
    for (int i = 0; i < placed; i++) {
        const struct unit *other = fit->placed[i];
        if (!overlap(unit, other)) continue;
        if (other->offset - offset >= unit->bytes) break;
        int64_t end = djlplan_align(other->offset + other->bytes);
        if (end > offset) offset = end;
    }
    unit->offset = offset;
    int at = placed;
    for (; at > 0 && fit->placed[at - 1]->offset > offset; at--) {
        fit->placed[at] = fit->placed[at - 1];
    }
    fit->placed[at] = unit;
}

/* Returns whether no two units that are alive at once overlap. Compares all pairs. */
static bool is_sound(const struct fit *fit) {
    for (int i = 0; i < fit->unit_count; i++) {
        const struct unit *one = &fit->units[i];
        for (int j = 0; j < i; j++) {
            const struct unit *other = &fit->units[j];
            bool apart = one->offset + one->bytes <= other->offset ||
                         other->offset + other->bytes <= one->offset;
            if (overlap(one, other) && !apart) return false;
        }
    }
    return true;
}

static int refuse(struct djlplan_tflite_session *session, const char *why) {
    snprintf(session->error, sizeof session->error, "no places: %s", why);
    return DJLPLAN_MISMATCH;
}

/* Finds the uses of all tensors. Returns NULL, or why no plan is possible. */
static const char *find_uses(struct djlplan_tflite_session *session, struct fit *fit) {
    const TfLiteContext *context = session->graph.context;
    for (size_t i = 0; i < context->tensors_size; i++) {
        fit->uses[i] = (struct use){-1, -1, NULL};
    }
    for (int step = 0; step < session->graph.node_count; step++) {
        const TfLiteNode *node = session->graph.nodes[step].node;
        if (has_unknown(context, node->inputs) || has_unknown(context, node->outputs)) {
            return "a size is known only at run time";
        }
        note_all(fit, context, node->inputs, step);
        note_all(fit, context, node->outputs, step);
        note_all(fit, context, node->temporaries, step);
    }
    for (int i = 0, id; (id = djlplan_tflite_output(session, i)) >= 0; i++) {
        note(fit, context, id, session->graph.node_count);
    }
    return NULL;
}

/*
 * Creates a unit for each tensor that begins at a step, unless the tensor takes over an input's
 * place.
 */
static void begin_units(struct fit *fit, const TfLiteContext *context, const struct node *known,
                        int step) {
    const TfLiteIntArray *lists[] = {known->node->inputs, known->node->outputs,
                                     known->node->temporaries};
    int32_t input = input_to_take(fit, context, known, step);
    if (input >= 0) {
        struct use *output = &fit->uses[known->node->outputs->data[0]];
        output->unit = fit->uses[input].unit;
        output->unit->last = output->last;
    }
    for (int list = 0; list < 3; list++) {
        for (int i = 0; lists[list] != NULL && i < lists[list]->size; i++) {
            int32_t id = lists[list]->data[i];
            if (id < 0 || (size_t)id >= context->tensors_size) continue;
            struct use *use = &fit->uses[id];
            if (use->first < 0 || use->unit != NULL) continue;
            use->unit = &fit->units[fit->unit_count++];
            *use->unit = (struct unit){(int64_t)context->tensors[id].bytes, 0, step, use->last};
        }
    }
}

static void place_units(struct fit *fit) {
    for (int i = 0; i < fit->unit_count; i++) fit->by_size[i] = &fit->units[i];
    qsort(fit->by_size, (size_t)fit->unit_count, sizeof(struct unit *), by_size);
    for (int i = 0; i < fit->unit_count; i++) place_unit(fit, fit->by_size[i], i);
}

/* Returns the most bytes that are alive at once: no plan of these units needs less. */
static int64_t least_bytes(const struct fit *fit, int steps) {
    int64_t most = 0;
    for (int step = 0; step <= steps; step++) {
        int64_t alive = 0;
        for (int i = 0; i < fit->unit_count; i++) {
            const struct unit *unit = &fit->units[i];
            if (unit->first <= step && step <= unit->last) alive += djlplan_align(unit->bytes);
        }
        if (alive > most) most = alive;
    }
    return most;
}

/* Sets the places as the session's plan. */
static int take(struct djlplan_tflite_session *session, const struct fit *fit, int32_t *ids,
                int64_t *offsets) {
    int count = 0;
    int64_t arena_bytes = 0;
    for (size_t i = 0; i < session->graph.context->tensors_size; i++) {
        const struct unit *unit = fit->uses[i].unit;
        if (unit == NULL) continue;
        ids[count] = (int32_t)i;
        offsets[count++] = unit->offset;
        int64_t end = djlplan_align(unit->offset + unit->bytes);
        if (end > arena_bytes) arena_bytes = end;
    }
    return djlplan_tflite_place(session, ids, offsets, count, arena_bytes);
}

static int fit_into(struct djlplan_tflite_session *session, struct fit *fit, int32_t *ids,
                    int64_t *offsets) {
    const char *problem = find_uses(session, fit);
    if (problem != NULL) return refuse(session, problem);
    for (int step = 0; step < session->graph.node_count; step++) {
        begin_units(fit, session->graph.context, &session->graph.nodes[step], step);
    }
    place_units(fit);
    if (!is_sound(fit)) return refuse(session, "they overlap");
    return take(session, fit, ids, offsets);
}

int djlplan_tflite_fit(struct djlplan_tflite_session *session, int64_t *places) {
    session->error[0] = '\0';
    int tensors = (int)session->graph.context->tensors_size;
    struct fit fit = {
        .uses = djlplan_zeroed_plus_one(tensors, sizeof *fit.uses),
        .units = djlplan_zeroed_plus_one(tensors, sizeof *fit.units),
        .by_size = djlplan_zeroed_plus_one(tensors, sizeof *fit.by_size),
        .placed = djlplan_zeroed_plus_one(tensors, sizeof *fit.placed),
    };
    int32_t *ids = djlplan_zeroed_plus_one(tensors, sizeof *ids);
    int64_t *offsets = djlplan_zeroed_plus_one(tensors, sizeof *offsets);
    int status;
    if (fit.uses == NULL || fit.units == NULL || fit.by_size == NULL || fit.placed == NULL ||
        ids == NULL || offsets == NULL) {
        status = refuse(session, "out of memory");
    } else {
        status = fit_into(session, &fit, ids, offsets);
    }
    if (status == DJLPLAN_OK) {
        places[0] = session->plan.arena_bytes;
        places[1] = least_bytes(&fit, session->graph.node_count);
        for (int i = 0, id; (id = djlplan_tflite_output(session, i)) >= 0; i++) {
            const struct unit *unit = fit.uses[id].unit;
            places[2 + i] = unit == NULL ? -1 : unit->offset;
        }
    }
    free(fit.uses);
    free(fit.units);
    free(fit.by_size);
    free(fit.placed);
    free(ids);
    free(offsets);
    return status;
}
