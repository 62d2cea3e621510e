package org.djlplan.cli;

/** The figures of a run, in the order in which they are printed. */
enum Figure {
    MEDIAN_MILLIS("medianMillis", "latency, median", Unit.MILLIS),
    P95_MILLIS("p95Millis", "latency, 95th percentile", Unit.MILLIS),
    P99_MILLIS("p99Millis", "latency, 99th percentile", Unit.MILLIS),
    PAGE_FAULTS("pageFaultsPerInference", "page faults per inference", Unit.RATE),
    PEAK("peakBytes", "peak of the process", Unit.BYTES),
    PEAK_ABOVE_IDLE("peakAboveIdleBytes", "peak above the idle engine", Unit.BYTES),
    PEAK_ABOVE_LOADED("peakAboveLoadedBytes", "peak above the loaded model", Unit.BYTES),
    ARENA("arenaBytes", "arena", Unit.BYTES),
    INPUT_OUTPUT("inputOutputBytes", "inputs and outputs", Unit.BYTES),
    STOCK_ARENA("stockArenaBytes", "stock arena", Unit.BYTES),
    LOWER_BOUND("lowerBoundBytes", "lower bound", Unit.BYTES),
    NAIVE("naiveBytes", "naive", Unit.BYTES),
    UNPLANNED("unplannedAllocations", "unplanned allocations", Unit.COUNT),
    DELEGATED("delegatedOperators", "operators delegated", Unit.COUNT),
    LOAD_MILLIS("loadMillis", "time to load", Unit.MILLIS);

    /** Unit of a figure. */
    enum Unit {
        MILLIS,
        BYTES,
        COUNT,
        RATE
    }

    private final String key;
    private final String label;
    private final Unit unit;

    Figure(String key, String label, Unit unit) {
        this.key = key;
        this.label = label;
        this.unit = unit;
    }

    /** Returns the key in JSON. */
    String key() {
        return key;
    }

    /** Returns the label for people. */
    String label() {
        return label;
    }

    Unit unit() {
        return unit;
    }
}
