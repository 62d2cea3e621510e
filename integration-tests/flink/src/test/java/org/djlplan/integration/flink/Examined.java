package org.djlplan.integration.flink;

/**
 * A row and the configuration of the model that classified it, as a class that Flink can serialize.
 */
public class Examined {

    public long number;
    public int best;
    public int attempt;
    public String facts;
    public long residentBytes;

    /** Flink requires this constructor. */
    public Examined() {}

    Examined(long number, int best, int attempt, String facts, long residentBytes) {
        this.number = number;
        this.best = best;
        this.attempt = attempt;
        this.facts = facts;
        this.residentBytes = residentBytes;
    }
}
