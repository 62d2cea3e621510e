package org.djlplan.memplan.spi;

/**
 * The party that may set an option. DJL merges the arguments of the application with those of the
 * model's folder, so a value in arguments may come from the folder, which is not trusted: options
 * that load code, name files, fill a disk or exceed the machine must come from the application.
 */
public enum Origin {
    /** Any value may come from arguments. */
    ANYONE("anyone"),
    /** A number of threads, or of other things that occupy one core each. */
    UP_TO_THE_CORES("anyone up to the machine's cores, the application beyond"),
    /** A waiting time with its unit, possibly after a colon. */
    UP_TO_A_MINUTE("anyone up to one minute, the application beyond"),
    /** A size with its unit, possibly followed by a colon. */
    UP_TO_THE_MEMORY("anyone up to the machine's memory, the application beyond"),
    /** Shapes of arrays that are allocated together. */
    SHAPES_UP_TO_THE_MEMORY("anyone up to the machine's memory, the application beyond"),
    /**
     * An option that loads code, names a file, fills a disk, affects other models or lowers the
     * precision: arguments may only contain its default.
     */
    APPLICATION("the application");

    private final String text;

    Origin(String text) {
        this.text = text;
    }

    /** Returns who may set it, for people. */
    @Override
    public String toString() {
        return text;
    }
}
