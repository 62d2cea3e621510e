/* Writes the live graph of a TensorFlow Lite session as numbers. */
#include "tflite_session.h"

/* Counts all elements, and stores as many as fit. */
struct sink {
    int32_t *out;
    int64_t capacity;
    int64_t count;
};

static void put(struct sink *sink, int32_t value) {
    if (sink->count < sink->capacity) sink->out[sink->count] = value;
    sink->count++;
}

static void put_array(struct sink *sink, const TfLiteIntArray *array) {
    int size = array == NULL ? 0 : array->size;
    put(sink, size);
    for (int i = 0; i < size; i++) put(sink, array->data[i]);
}

static const TfLiteIntArray *replaced(const TfLiteNode *node) {
    if (node->delegate == NULL) return NULL;
    const TfLiteDelegateParams *params = node->builtin_data;
    return params->nodes_to_replace;
}

int64_t djlplan_tflite_nodes(const struct djlplan_tflite_session *session, int32_t *out,
                             int64_t capacity) {
    struct sink sink = {out, capacity, 0};
    for (int i = 0; i < session->graph.node_count; i++) {
        const TfLiteNode *node = session->graph.nodes[i].node;
        put(&sink, session->graph.nodes[i].id);
        put(&sink, session->graph.nodes[i].builtin_code);
        put(&sink, session->graph.nodes[i].in_place);
        put_array(&sink, replaced(node));
        put_array(&sink, node->inputs);
        put_array(&sink, node->outputs);
        put_array(&sink, node->temporaries);
    }
    return sink.count;
}

int64_t djlplan_tflite_partitions(const struct djlplan_tflite_session *session, int32_t *out,
                                  int64_t capacity) {
    struct sink sink = {out, capacity, 0};
    if (session->delegation.kind != DELEGATES_PREVIEW) return 0;
    const struct ids *partitions = &session->delegation.partitions;
    for (int i = 0; i < partitions->count; i++) put(&sink, partitions->values[i]);
    return sink.count;
}

int64_t djlplan_tflite_tensors(const struct djlplan_tflite_session *session, int32_t *out,
                               int64_t capacity) {
    struct sink sink = {out, capacity, 0};
    for (size_t i = 0; i < session->graph.context->tensors_size; i++) {
        const TfLiteTensor *tensor = &session->graph.context->tensors[i];
        put(&sink, tensor->type);
        put(&sink, tensor->allocation_type);
        put(&sink, tensor->is_variable);
        put(&sink, djlplan_tflite_is_ours(tensor));
        put_array(&sink, tensor->dims);
    }
    return sink.count;
}

int64_t djlplan_tflite_sizes(const struct djlplan_tflite_session *session, int64_t *out,
                             int64_t capacity) {
    int64_t count = 2 * (int64_t)session->graph.context->tensors_size;
    for (int64_t i = 0; i + 1 < count && i + 1 < capacity; i += 2) {
        const TfLiteTensor *tensor = &session->graph.context->tensors[i / 2];
        out[i] = (int64_t)tensor->bytes;
        out[i + 1] = (int64_t)(intptr_t)tensor->data;
    }
    return count;
}

int64_t djlplan_tflite_times(const struct djlplan_tflite_session *session, int64_t *out,
                             int64_t capacity) {
    int64_t count = session->timed ? session->graph.node_count : 0;
    for (int64_t i = 0; i < count && i < capacity; i++) out[i] = session->graph.nodes[i].nanos;
    return count;
}
