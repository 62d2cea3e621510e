package org.djlplan.memplan.internal.slicing;

/**
 * The window of a kernel: the part of the input from which it computes one output, and how far the
 * window moves from one output to the next.
 *
 * @param height rows of the kernel
 * @param width columns of the kernel
 * @param strideHeight rows from one output to the next
 * @param strideWidth columns from one output to the next
 * @param padded whether the input is padded with zeros ({@code SAME})
 */
record KernelWindow(int height, int width, int strideHeight, int strideWidth, boolean padded) {

    /** The window of a layer with one place. */
    static final KernelWindow ONE_PLACE = new KernelWindow(1, 1, 1, 1, false);

    /** Returns whether each output is computed from one place, and each place is used once. */
    boolean isPointwise() {
        return height == 1 && width == 1 && strideHeight == 1 && strideWidth == 1;
    }

    /**
     * Returns the input row with which an output row begins, negative in the padding above.
     *
     * @param in rows of the input
     * @param out rows of the output
     * @param outputRow index of the output row
     */
    int firstInputRow(int in, int out, int outputRow) {
        int above = padded ? padding(in, out, height, strideHeight) / 2 : 0;
        return outputRow * strideHeight - above;
    }

    /**
     * Returns the columns of zeros on the left.
     *
     * @param in columns of the input
     * @param out columns of the output
     */
    int paddingLeft(int in, int out) {
        return padded ? padding(in, out, width, strideWidth) / 2 : 0;
    }

    /**
     * Returns the columns of zeros on the right.
     *
     * @param in columns of the input
     * @param out columns of the output
     */
    int paddingRight(int in, int out) {
        return padded ? padding(in, out, width, strideWidth) - paddingLeft(in, out) : 0;
    }

    private static int padding(int in, int out, int kernel, int stride) {
        return Math.max(0, (out - 1) * stride + kernel - in);
    }

    /**
     * Returns the rows of the output.
     *
     * @param in rows of the input
     */
    int outputRows(int in) {
        return outputs(in, height, strideHeight);
    }

    /**
     * Returns the columns of the output.
     *
     * @param in columns of the input
     */
    int outputColumns(int in) {
        return outputs(in, width, strideWidth);
    }

    private int outputs(int in, int kernel, int stride) {
        return padded ? (in - 1) / stride + 1 : in < kernel ? 0 : (in - kernel) / stride + 1;
    }
}
