package org.djlplan.delegation.choice;

import java.util.List;
import org.djlplan.delegation.choice.Unions.Union;
import org.djlplan.delegation.partition.UnitGraph;
import org.djlplan.memplan.spi.Candidate;

/** What unions of units are predicted to take with one setting of threads. */
public final class Forecast {

    private final UnitGraph units;
    private final int threads;
    private final LatencyModel latency;
    private final MemoryModel memory;
    private final Unions unions;

    /**
     * @param units of the graph
     * @param threads of every candidate
     * @param latency what units take
     * @param memory what units take
     */
    public Forecast(UnitGraph units, int threads, LatencyModel latency, MemoryModel memory) {
        this.units = units;
        this.threads = threads;
        this.latency = latency;
        this.memory = memory;
        this.unions = new Unions(units);
    }

    /**
     * A candidate worth trying.
     *
     * @param forecast which proposes it
     * @param union its units
     * @param candidate its operators and threads
     * @param cost what it is predicted to cost by the preference
     */
    public record Proposal(Forecast forecast, Union union, Candidate candidate, double cost) {

        /** Learns what the candidate took. */
        public void measured(long bytes) {
            forecast.memory.measured(union.units(), union.kernels(), bytes);
        }
    }

    /** Returns how many units there are. */
    public int units() {
        return units.units().size();
    }

    /** Returns the best candidates by a preference, the best first. */
    public List<Proposal> best(int count, Preference preference) {
        return unions.best(count, union -> cost(union, preference)).stream()
                .map(union -> proposal(union, preference))
                .toList();
    }

    private Proposal proposal(Union union, Preference preference) {
        Candidate candidate = new Candidate(units.operators(union.units()), threads);
        return new Proposal(this, union, candidate, cost(union, preference));
    }

    private double cost(Union union, Preference preference) {
        return preference.predicted(
                latency.nanos(union.units()),
                memory.bytes(union.units(), union.kernels()),
                union.kernels());
    }
}
