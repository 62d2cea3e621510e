package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Predicate;
import org.djlplan.delegation.internal.choice.Units.Unit;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The result of one profiling run.
 *
 * @param partitions reported by the delegate: sets of operators, in execution order
 * @param entries candidates that were tried, in the order of the trials
 * @param chosen the candidate to use: a measured one, or stock if nothing could be measured
 * @param lighter the candidates to use while other predictions run: the best candidate for each
 *     smaller number of threads, most threads first; all were measured
 * @param reason of the choice, in one line
 * @param caveat a remark on the times, such as that other work disturbed them
 * @param inferences total number of inferences
 * @param nanos total duration
 */
public record ProfileTable(
        List<SortedSet<Integer>> partitions,
        List<Entry> entries,
        Candidate chosen,
        List<Candidate> lighter,
        String reason,
        Optional<String> caveat,
        int inferences,
        long nanos) {

    public ProfileTable {
        partitions = copy(partitions);
        Set<Integer> seen = new HashSet<>();
        partitions.forEach(
                partition ->
                        partition.forEach(
                                each -> checkArgument(each >= 0 && seen.add(each), "%s", each)));
        entries = ImmutableList.copyOf(entries);
        lighter = ImmutableList.copyOf(lighter);
        reason = CharMatcher.javaIsoControl().replaceFrom(reason, ' ');
        caveat = caveat.map(text -> CharMatcher.javaIsoControl().replaceFrom(text, ' '));
        checkArgument(
                chosen.isStock() || measured(entries, chosen).isPresent(),
                "%s was not measured",
                chosen);
        int threads = chosen.threads();
        for (Candidate next : lighter) {
            checkArgument(measured(entries, next).isPresent(), "%s was not measured", next);
            checkArgument(
                    next.threads() > 0 && (threads == -1 || next.threads() < threads),
                    "%s threads after %s",
                    next.threads(),
                    threads);
            threads = next.threads();
        }
        checkArgument(inferences >= 0 && nanos >= 0, "%s inferences, %s ns", inferences, nanos);
    }

    /**
     * Creates a table without a caveat, whose choice holds however many predictions run at once.
     */
    public ProfileTable(
            List<SortedSet<Integer>> partitions,
            List<Entry> entries,
            Candidate chosen,
            String reason,
            int inferences,
            long nanos) {
        this(partitions, entries, chosen, List.of(), reason, Optional.empty(), inferences, nanos);
    }

    /**
     * Returns the measurement of a candidate; empty if it was not measured, failed or was wrong.
     */
    public Optional<Entry.Measured> measured(Candidate candidate) {
        return measured(entries, candidate);
    }

    private static Optional<Entry.Measured> measured(List<Entry> entries, Candidate candidate) {
        return entries.stream()
                .filter(entry -> entry.candidate().equals(candidate))
                .filter(Entry.Measured.class::isInstance)
                .map(Entry.Measured.class::cast)
                .findFirst();
    }

    /** Returns this table with a remark on the times. */
    public ProfileTable with(Optional<String> caution) {
        return new ProfileTable(
                partitions, entries, chosen, lighter, reason, caution, inferences, nanos);
    }

    /** Returns this table with another choice. */
    public ProfileTable choosing(Candidate other, String why) {
        return new ProfileTable(partitions, entries, other, why, inferences, nanos);
    }

    private static List<SortedSet<Integer>> copy(Collection<? extends SortedSet<Integer>> sets) {
        List<SortedSet<Integer>> copies = new ArrayList<>();
        for (SortedSet<Integer> set : sets) {
            copies.add(ImmutableSortedSet.copyOf(set));
        }
        return List.copyOf(copies);
    }

    /** Formats the reason of a choice in one line for people. */
    public static final class Reason {

        private static final double NANOS_PER_MILLI = 1e6;
        private static final double BYTES_PER_MEGABYTE = 1e6;

        private final List<Unit> partitions;
        private final Request request;

        /** Medians differ this much by chance. */
        private static final double HARDLY_DIFFERENT = 0.03;

        public Reason(Request request, List<? extends Set<Integer>> partitions) {
            this.partitions = Units.of(request.graph(), partitions).all();
            this.request = request;
        }

        /** Returns the choice, its time, and the times of nothing and everything delegated. */
        public String of(Entry.Measured chosen, List<Entry> entries) {
            StringBuilder line = new StringBuilder(name(chosen.candidate()));
            if (request.threads().size() > 1) {
                line.append(onThreads(chosen.candidate().threads()));
            }
            line.append(": ").append(millis(chosen));
            if (showsMemory()) {
                line.append(String.format(Locale.ROOT, " in %.1f MB", megabytes(chosen)));
            }
            boolean isTransient = chosen.candidate().transientBuffers();
            String all =
                    delegatesEverything(chosen) ? "with buffers that are kept" : "all partitions";
            best(
                            entries,
                            entry ->
                                    delegatesEverything(entry)
                                            && !entry.candidate().transientBuffers())
                    .filter(entry -> !delegatesEverything(chosen) || isTransient)
                    .ifPresent(entry -> line.append(compared(chosen, entry, all)));
            best(entries, entry -> entry.candidate().isStock())
                    .filter(stock -> !chosen.candidate().isStock())
                    .ifPresent(stock -> line.append(compared(chosen, stock, request.stock())));
            return line.append(passedOver(chosen, entries))
                    .append(lowerPrecision(chosen.candidate(), entries))
                    .append(rejected(entries))
                    .toString();
        }

        private boolean showsMemory() {
            return request.goal().asksForMemory() || !request.recipes().isEmpty();
        }

        /** Returns the recipes that are faster than the chosen candidate. */
        private String passedOver(Entry.Measured chosen, List<Entry> entries) {
            StringBuilder text = new StringBuilder();
            for (String recipe : request.recipes()) {
                best(entries, entry -> entry.candidate().recipe().equals(recipe))
                        .filter(e -> compared(chosen, e) < 1 - HARDLY_DIFFERENT)
                        .ifPresent(
                                e ->
                                        text.append(text.isEmpty() ? "; faster, not taken: " : ", ")
                                                .append(recipe + ' ' + millis(e))
                                                .append(
                                                        String.format(
                                                                Locale.ROOT,
                                                                " in %.1f MB",
                                                                megabytes(e))));
            }
            return text.toString();
        }

        /** Returns how close the permitted lower precision is, or why it was not taken. */
        private String lowerPrecision(Candidate chosen, List<Entry> entries) {
            return entries.stream()
                    .filter(entry -> request.tolerance().isLower(entry.candidate()))
                    .map(entry -> "; " + entry.candidate().recipe() + lowerPrecision(chosen, entry))
                    .findFirst()
                    .orElse("");
        }

        private String lowerPrecision(Candidate chosen, Entry entry) {
            if (entry instanceof Entry.Measured measured) {
                double cosine =
                        measured.errors().stream()
                                .mapToDouble(OutputError::leastCosine)
                                .min()
                                .orElse(1);
                String close = String.format(Locale.ROOT, ": cosine at least %.5f", cosine);
                return chosen.equals(entry.candidate())
                        ? close
                        : close + ", not 5 % faster at all shapes: " + millis(measured);
            }
            if (entry instanceof Entry.Wrong wrong) {
                double error =
                        wrong.errors().stream()
                                .mapToDouble(e -> Math.max(e.difference(), e.deviation().spread()))
                                .max()
                                .orElse(0);
                double limit =
                        request.tolerance().of(entry.candidate()).limit(wrong.errors().get(0));
                return Double.isInfinite(error)
                        ? " is refused: its outputs are not finite where stock's are, or the reverse"
                        : String.format(
                                Locale.ROOT,
                                " is refused: the relative error of an output is %.3g, above %.3g"
                                        + " (%s)",
                                error,
                                limit,
                                request.tolerance().precision());
            }
            return " is refused: " + ((Entry.Failed) entry).message();
        }

        /** Returns the number of rejected candidates, and the reason of the first one. */
        public String rejected(List<Entry> entries) {
            List<Entry> rejected =
                    entries.stream()
                            .filter(entry -> !(entry instanceof Entry.Measured))
                            .filter(entry -> !request.tolerance().isLower(entry.candidate()))
                            .toList();
            if (rejected.isEmpty()) {
                return "";
            }
            String first =
                    rejected.get(0) instanceof Entry.Failed failed
                            ? failed.message()
                            : "outputs outside the tolerance";
            return "; " + rejected.size() + " candidates cannot be used (" + first + ")";
        }

        private String name(Candidate candidate) {
            Set<Integer> operators = candidate.operators();
            if (operators.isEmpty()) {
                return candidate.isStock() ? request.stock() : candidate.recipe();
            }
            long whole =
                    partitions.stream().filter(p -> operators.containsAll(p.operators())).count();
            long touched =
                    partitions.stream()
                            .filter(p -> p.operators().stream().anyMatch(operators::contains))
                            .count();
            String what = whole == touched ? "" : operators.size() + " operators of ";
            String name =
                    partitions.size() == 1
                            ? what + "the only partition"
                            : what + touched + " of " + partitions.size() + " partitions";
            return candidate.transientBuffers()
                    ? name + ", buffers built for each prediction"
                    : name;
        }

        private boolean delegatesEverything(Entry.Measured entry) {
            return entry.candidate().delegates()
                    && partitions.stream()
                            .allMatch(
                                    p -> entry.candidate().operators().containsAll(p.operators()));
        }

        /** Returns the fastest among candidates with different numbers of threads. */
        private static Optional<Entry.Measured> best(
                List<Entry> entries, Predicate<Entry.Measured> wanted) {
            return entries.stream()
                    .filter(Entry.Measured.class::isInstance)
                    .map(Entry.Measured.class::cast)
                    .filter(wanted)
                    .min(Comparator.comparingLong(e -> e.latency().medianNanos()));
        }

        /** Returns the other's time as a multiple of the chosen candidate's. */
        private static double compared(Entry.Measured chosen, Entry.Measured other) {
            return (double) other.latency().medianNanos()
                    / Math.max(1, chosen.latency().medianNanos());
        }

        private String compared(Entry.Measured chosen, Entry.Measured other, String name) {
            double times = compared(chosen, other);
            int threads = other.candidate().threads();
            String which =
                    threads == chosen.candidate().threads() ? name : name + onThreads(threads);
            String memory =
                    showsMemory() ? String.format(Locale.ROOT, " (%.1f MB)", megabytes(other)) : "";
            if (Math.abs(times - 1) < HARDLY_DIFFERENT) {
                // The race found no difference, so it chose the simpler candidate.
                return ", as fast as " + which + memory;
            }
            return String.format(Locale.ROOT, ", %.3g times as fast as %s%s", times, which, memory);
        }

        private static String onThreads(int threads) {
            return switch (threads) {
                case -1 -> " on the engine's threads";
                case 1 -> " on 1 thread";
                default -> " on " + threads + " threads";
            };
        }

        private static String millis(Entry.Measured entry) {
            return String.format(
                    Locale.ROOT, "%.3g ms", entry.latency().medianNanos() / NANOS_PER_MILLI);
        }

        private static double megabytes(Entry.Measured entry) {
            return entry.memoryBytes() / BYTES_PER_MEGABYTE;
        }
    }
}
