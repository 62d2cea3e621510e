package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.hash.Hashing;

/**
 * The choice of a model's delegated operators and threads, and its reason.
 *
 * @param candidate for a prediction that has the processors for itself
 * @param lighter verified candidates with fewer threads, for predictions that share the processors:
 *     the best candidate for each number of threads, most threads first; empty if the user set the
 *     number of threads
 * @param origin of the choice
 * @param reason in one line, for people
 * @param outputs how the outputs differ from the CPU kernels', as far as known
 */
public record DelegationChoice(
        Candidate candidate,
        List<Candidate> lighter,
        DelegationReport.Origin origin,
        String reason,
        List<OutputAgreement> outputs) {

    private static final int ID_DIGITS = 12;

    public DelegationChoice {
        checkArgument(!reason.isEmpty(), "a choice without a reason");
        reason = CharMatcher.javaIsoControl().replaceFrom(reason, ' ');
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

    /** Creates a choice for predictions under any load. */
    public DelegationChoice(Candidate candidate, DelegationReport.Origin origin, String reason) {
        this(candidate, List.of(), origin, reason, List.of());
    }

    /** Returns all candidates, most threads first. */
    public List<Candidate> candidates() {
        return ImmutableList.<Candidate>builder().add(candidate).addAll(lighter).build();
    }

    /** Returns the candidate with the fewest threads, which serves first. */
    public Candidate lightest() {
        return lighter.isEmpty() ? candidate : lighter.get(lighter.size() - 1);
    }

    /**
     * Returns an identifier of this choice among those of the same model, on any machine: 12
     * hexadecimal digits, a hash of engine, delegate, the version of the acceptance rule and, of
     * each candidate, recipe, operators, threads and buffers. Origin and reason are not part of it.
     *
     * @param engine name and version of the native library
     */
    public String id(String engine, String delegate) {
        StringBuilder text = new StringBuilder();
        text.append(engine).append('\n').append(delegate).append('\n').append(Tolerance.VERSION);
        for (Candidate each : candidates()) {
            text.append('\n').append(each.threads()).append(' ').append(each.transientBuffers());
            text.append(each.recipe().isEmpty() ? "" : " " + each.recipe());
            each.operators().forEach(operator -> text.append(' ').append(operator));
        }
        return Hashing.sha256()
                .hashString(text, StandardCharsets.UTF_8)
                .toString()
                .substring(0, ID_DIGITS);
    }

    /** Returns this choice with buffers that the delegate builds for each prediction. */
    public DelegationChoice withTransientBuffers() {
        return new DelegationChoice(
                transientOf(candidate),
                lighter.stream().map(DelegationChoice::transientOf).toList(),
                origin,
                reason,
                outputs);
    }

    private static Candidate transientOf(Candidate of) {
        return of.delegates() ? of.withTransientBuffers() : of;
    }

    /** Returns this choice with one candidate only. */
    public DelegationChoice only(Candidate one) {
        return new DelegationChoice(one, List.of(), origin, reason, outputs);
    }
}
