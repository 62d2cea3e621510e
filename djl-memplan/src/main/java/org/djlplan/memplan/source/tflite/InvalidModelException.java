package org.djlplan.memplan.source.tflite;

/** The parts of a model do not fit together, for example an index that points nowhere. */
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
     * Returns where, in the format's own names, such as {@code subgraphs[0].tensors[12].buffer}.
     */
    public String path() {
        return path;
    }

    /** Returns what is wrong there. */
    public String problem() {
        return problem;
    }
}
