/*
 * Kernels for 8-bit tensors that compute the same as the engine's but round differently. Sums are
 * exact in both; the engine scales them with integers and rounds twice.
 */
#ifndef OTHER_ROUNDING_H
#define OTHER_ROUNDING_H

#include "tflite_abi.h"

#include <math.h>

/* How a sum is scaled to a step: */
enum rounding {
    HALF_EVEN, /* with a float, as XNNPACK does */
    HALF_UP,   /* with a double, halves up */
    COARSE     /* with a float with 12 bits of significand, as signal processors do */
};

static float scale_of(double scale, enum rounding rounding) {
    int exponent;
    if (rounding != COARSE) return (float)scale;
    double significand = frexp(scale, &exponent);
    return (float)ldexp(rint(significand * 4096) / 4096, exponent);
}

static int8_t step(double value, int32_t zero_point, enum rounding rounding) {
    double near = rounding == HALF_UP ? floor(value + .5) : rint(value);
    return (int8_t)fmax(fmin(near + zero_point, 127), -128);
}

/* The common beginning of the parameters of both convolutions. */
struct window {
    int padding, stride_width, stride_height;
};

enum { SAME_PADDING = 1 };

static int padding_before(int size, int output, int kernel, int stride, int padding) {
    int all = (output - 1) * stride + kernel - size;
    return padding == SAME_PADDING && all > 0 ? all / 2 : 0;
}

struct convolution {
    const TfLiteTensor *input, *filter, *bias, *output;
    int top, left, row_stride, column_stride;
    bool depthwise;
};

static int32_t sum_at(const struct convolution *c, int y, int x, int channel) {
    const int *in = c->input->dims->data, *filter = c->filter->dims->data;
    const int8_t *values = c->input->data, *weights = c->filter->data;
    int32_t sum = c->bias == NULL ? 0 : ((const int32_t *)c->bias->data)[channel];
    for (int i = 0; i < filter[1]; i++) {
        int row = y * c->row_stride - c->top + i;
        for (int j = 0; j < filter[2] && row >= 0 && row < in[1]; j++) {
            int column = x * c->column_stride - c->left + j;
            if (column < 0 || column >= in[2]) continue;
            const int8_t *place = values + (row * in[2] + column) * in[3];
            for (int k = c->depthwise ? channel : 0; k < (c->depthwise ? channel + 1 : in[3]);
                 k++) {
                int weight = c->depthwise ? (i * filter[2] + j) * filter[3] + channel
                                          : ((channel * filter[1] + i) * filter[2] + j) * in[3] + k;
                sum += (place[k] - c->input->zero_point) * weights[weight];
            }
        }
    }
    return sum;
}

static void convolve(const TfLiteContext *context, const TfLiteNode *node, bool depthwise,
                     enum rounding rounding) {
    const int *ids = node->inputs->data;
    const TfLiteTensor *input = &context->tensors[ids[0]], *filter = &context->tensors[ids[1]];
    const TfLiteTensor *output = &context->tensors[node->outputs->data[0]];
    const struct window *window = node->builtin_data;
    const int *out = output->dims->data;
    struct convolution c = {.input = input,
                            .filter = filter,
                            .bias = &context->tensors[ids[2]],
                            .output = output,
                            .row_stride = window->stride_height,
                            .column_stride = window->stride_width,
                            .depthwise = depthwise};
    c.top = padding_before(input->dims->data[1], out[1], filter->dims->data[1], c.row_stride,
                           window->padding);
    c.left = padding_before(input->dims->data[2], out[2], filter->dims->data[2], c.column_stride,
                            window->padding);
    float scale = scale_of((double)input->scale * filter->scale / output->scale, rounding);
    int8_t *result = output->data;
    for (int y = 0; y < out[1]; y++) {
        for (int x = 0; x < out[2]; x++) {
            for (int channel = 0; channel < out[3]; channel++) {
                int32_t sum = sum_at(&c, y, x, channel);
                double value = rounding == HALF_UP
                                   ? (double)sum * input->scale * filter->scale / output->scale
                                   : (double)((float)sum * scale);
                *result++ = step(value, output->zero_point, rounding);
            }
        }
    }
}

static void add(const TfLiteContext *context, const TfLiteNode *node, enum rounding rounding) {
    const TfLiteTensor *a = &context->tensors[node->inputs->data[0]];
    const TfLiteTensor *b = &context->tensors[node->inputs->data[1]];
    const TfLiteTensor *output = &context->tensors[node->outputs->data[0]];
    float of_a = scale_of(a->scale / output->scale, rounding);
    float of_b = scale_of(b->scale / output->scale, rounding);
    for (size_t i = 0; i < output->bytes; i++) {
        float x = (float)(((const int8_t *)a->data)[i] - a->zero_point) * of_a;
        float y = (float)(((const int8_t *)b->data)[i] - b->zero_point) * of_b;
        ((int8_t *)output->data)[i] = step((double)(x + y), output->zero_point, rounding);
    }
}

static void rectify(const TfLiteContext *context, const TfLiteNode *node, enum rounding rounding) {
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    const TfLiteTensor *slope = &context->tensors[node->inputs->data[1]];
    const TfLiteTensor *output = &context->tensors[node->outputs->data[0]];
    float scale = scale_of(input->scale / output->scale, rounding);
    for (size_t i = 0; i < output->bytes; i++) {
        float x = (float)(((const int8_t *)input->data)[i] - input->zero_point) * scale;
        float a = (float)((const int8_t *)slope->data)[i % slope->bytes] * slope->scale;
        ((int8_t *)output->data)[i] =
            step((double)(x < 0 ? x * a : x), output->zero_point, rounding);
    }
}

#endif
