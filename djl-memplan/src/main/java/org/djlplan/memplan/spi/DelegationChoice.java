package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.djlplan.memplan.report.OutputAgreement;

/**
 * The operators and threads that a model runs with, and why.
 *
 * @param candidate the operators and threads of a prediction that has the processors for itself
 * @param lighter verified candidates of fewer threads, for predictions that share the processors
 *     with others: the best of each number of threads, most threads first; empty where the number
 *     of threads is the user's
 * @param origin where the choice comes from
 * @param reason in one line, for people
 * @param outputs how near the outputs come to the CPU kernels', as far as known
 */
public record DelegationChoice(
        Candidate candidate,
        List<Candidate> lighter,
        Origin origin,
        String reason,
        List<OutputAgreement> outputs) {

    private static final int ID_DIGITS = 12;

    /** The origin of a choice. */
    public enum Origin {
        /** Nothing was run: these are the CPU kernels. */
        UNVERIFIED,
        /** Its outputs were compared with the CPU kernels'; whether others are better is open. */
        VERIFIED,
        /** Measured now. */
        MEASURED,
        /** Measured earlier and kept. */
        STORED
    }

    public DelegationChoice {
        checkArgument(!reason.isEmpty(), "a choice without a reason");
        lighter = ImmutableList.copyOf(lighter);
        outputs = ImmutableList.copyOf(outputs);
        int threads = candidate.threads();
        for (Candidate next : lighter) {
            checkArgument(
                    next.threads() > 0 && (threads == -1 || next.threads() < threads),
                    "%s threads after %s",
                    next.threads(),
                    threads);
            threads = next.threads();
        }
    }

    /** A choice for predictions under any load. */
    public DelegationChoice(Candidate candidate, Origin origin, String reason) {
        this(candidate, List.of(), origin, reason, List.of());
    }

    /** Returns all candidates, most threads first. */
    public List<Candidate> candidates() {
        return ImmutableList.<Candidate>builder().add(candidate).addAll(lighter).build();
    }

    /** Returns the candidate of the fewest threads, with which predictions begin. */
    public Candidate lightest() {
        return lighter.isEmpty() ? candidate : lighter.get(lighter.size() - 1);
    }

    /**
     * Returns what tells this choice from others of the same model, wherever it was made: 12
     * hexadecimal digits, a hash of engine, delegate, the version of the rule by which outputs are
     * accepted and, of each candidate, operators, threads and buffers. Not of origin and reason.
     *
     * @param engine its name and the version of its native library
     */
    public String id(String engine, String delegate) {
        StringBuilder text = new StringBuilder();
        text.append(engine).append('\n').append(delegate).append('\n').append(Tolerance.VERSION);
        for (Candidate each : candidates()) {
            text.append('\n').append(each.threads()).append(' ').append(each.transientBuffers());
            each.operators().forEach(operator -> text.append(' ').append(operator));
        }
        return Hashing.sha256()
                .hashString(text, StandardCharsets.UTF_8)
                .toString()
                .substring(0, ID_DIGITS);
    }

    /** Returns the same without its other candidates. */
    public DelegationChoice only(Candidate one) {
        return new DelegationChoice(one, List.of(), origin, reason, outputs);
    }
}
