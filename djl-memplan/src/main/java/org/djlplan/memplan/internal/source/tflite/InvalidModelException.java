package org.djlplan.memplan.internal.source.tflite;

/**
 * Signals that the parts of a model contradict each other, for example because of an invalid index.
 */
public final class InvalidModelException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    private final String path;
    private final String problem;

    InvalidModelException(String path, String problem) {
        super(path + ": " + problem);
        this.path = path;
        this.problem = problem;
    }

    /**
     * Returns the path of the error, in the format's own names, such as {@code
     * subgraphs[0].tensors[12].buffer}.
     */
    public String path() {
        return path;
    }

    /** Returns the error at that path. */
    public String problem() {
        return problem;
    }
}
