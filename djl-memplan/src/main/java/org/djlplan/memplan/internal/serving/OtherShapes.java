package org.djlplan.memplan.internal.serving;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects the candidate for predictions with other input shapes than those in the model's file: the
 * CPU kernels, or a choice that was verified at a mix of shapes if the mix encloses the
 * prediction's shapes. This class also counts shapes and their changes. It requests a choice after
 * enough predictions, and another choice if later predictions have different shapes.
 */
final class OtherShapes {

    private static final Logger logger = LoggerFactory.getLogger(OtherShapes.class);

    /** Predictions before the first request; twice as many before each further one. */
    private static final int WINDOW = 32;

    /** Limit of requests while a model is loaded. */
    private static final int MOST_REQUESTS = 4;

    /** Limit of the elements of a stored mix's largest shapes, as a multiple of a prediction's. */
    private static final double MOST_LARGER = 16;

    private static final int MOST_SEEN = 256;
    private static final int MOST_REFUSED = 256;

    /**
     * The share of changes is rounded up to one of these, so that random differences have no
     * effect.
     */
    private static final double[] CHANGES = {1.0 / 16, 1.0 / 4, 1};

    private final String model;

    /** Shapes at which the delegate failed. */
    private final Set<List<List<Integer>>> refused = ConcurrentHashMap.newKeySet();

    private volatile Optional<Verified> verified = Optional.empty();

    /** Predictions by shapes. Guarded by this, like all fields below. */
    private final Map<List<List<Integer>>, Integer> seen = new HashMap<>();

    private Optional<ShapeChooser> chooser = Optional.empty();

    /**
     * The mixes for which results are stored, those with the smallest shapes first. Such a result
     * serves however often shapes change.
     */
    private ImmutableList<ShapeMix> stored = ImmutableList.of();

    /** The latest mix for which a choice was requested. */
    private Optional<ShapeMix> asked = Optional.empty();

    private int requests;
    private int predictions;
    private int enclosed;
    private int changed;

    /** The share of changes among the latest predictions. */
    private double changes;

    /** A choice, and the mix of shapes at which it was verified. */
    private record Verified(ShapeMix mix, DelegationChoice choice) {}

    OtherShapes(String model) {
        this.model = model;
    }

    /**
     * Requests choices from now on; they are passed to {@link #use}.
     *
     * @param known the mixes for which the chooser has stored results
     */
    synchronized void chooseWith(ShapeChooser requested, List<ShapeMix> known) {
        chooser = Optional.of(requested);
        stored =
                known.stream()
                        .sorted(Comparator.comparingDouble(ShapeMix::mostElements))
                        .collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns the candidate for these input shapes, with the usual number of threads if possible.
     */
    Candidate at(List<List<Integer>> shapes, Candidate usual) {
        Optional<Verified> now = verified;
        if (now.isEmpty() || !now.get().mix().encloses(shapes) || refused.contains(shapes)) {
            return Candidate.cpu(usual.threads());
        }
        return candidate(now.get().choice(), usual);
    }

    /** Returns the candidate of a choice with the usual number of threads if possible. */
    static Candidate candidate(DelegationChoice choice, Candidate usual) {
        for (Candidate each : choice.candidates()) {
            if (each.threads() == usual.threads()) {
                return each;
            }
        }
        return choice.lightest();
    }

    /** Returns the number of candidates besides the CPU kernels. */
    int candidates() {
        return verified.map(v -> v.choice().candidates().size()).orElse(0);
    }

    /** Uses a choice for all shapes that a mix encloses, unless another mix was requested since. */
    synchronized void use(ShapeMix mix, DelegationChoice choice) {
        if (asked.isEmpty() || asked.get().equals(mix)) {
            verified = Optional.of(new Verified(mix, choice));
        }
    }

    /** Runs inputs of these shapes in the CPU kernels from now on, with one warning. */
    void refuse(List<List<Integer>> shapes, String why) {
        if (refused.size() >= MOST_REFUSED) {
            verified = Optional.empty();
            logger.warn("{}: nothing is delegated at other shapes: {}", model, why);
        } else if (refused.add(shapes)) {
            logger.warn("{}: not delegated with inputs of {}: {}", model, shapes, why);
        }
    }

    /** Counts a prediction for which an interpreter was built or reallocated. */
    synchronized void noteChange() {
        changed++;
    }

    /** Counts a prediction, and may request a choice. */
    void note(List<List<Integer>> shapes) {
        Optional<ShapeChooser> idle = count(shapes);
        // Without the lock: a provider may hold its own while it passes a choice to this object.
        if (idle.isPresent() && idle.get().isSettled()) {
            ask(idle.get(), shapes);
        }
    }

    /**
     * Counts a prediction. Returns the chooser if a choice is to be requested: because the latest
     * predictions differ from those of the last request or, before the first request, because a
     * stored result fits this prediction.
     */
    private synchronized Optional<ShapeChooser> count(List<List<Integer>> shapes) {
        if (chooser.isEmpty() || requests == MOST_REQUESTS) {
            return Optional.empty();
        }
        if (seen.size() < MOST_SEEN || seen.containsKey(shapes)) {
            seen.merge(shapes, 1, Integer::sum);
        }
        predictions++;
        if (asked.isEmpty() && storedFor(shapes).isPresent()) {
            return chooser;
        }
        enclosed += asked.isPresent() && asked.get().encloses(shapes) ? 1 : 0;
        if (predictions < WINDOW << requests) {
            return Optional.empty();
        }
        changes = rounded((double) changed / predictions);
        boolean same =
                asked.isPresent()
                        && (asked.get().changes() == changes || stored.contains(asked.get()))
                        && 2 * enclosed >= predictions;
        restart();
        return same ? Optional.empty() : chooser;
    }

    /** Begins to count the predictions of the next window. */
    private void restart() {
        predictions = 0;
        enclosed = 0;
        changed = 0;
    }

    private static double rounded(double share) {
        for (double each : CHANGES) {
            if (share <= each) {
                return each;
            }
        }
        return 1;
    }

    /**
     * Returns the smallest mix with a stored result that encloses these shapes. Its largest shapes
     * are not much larger than these, because XNNPACK keeps memory for the largest ones.
     */
    private Optional<ShapeMix> storedFor(List<List<Integer>> shapes) {
        return stored.stream()
                .filter(mix -> mix.encloses(shapes))
                .filter(mix -> mix.mostElements() <= MOST_LARGER * ShapeMix.elements(shapes))
                .findFirst();
    }

    private synchronized void ask(ShapeChooser idle, List<List<Integer>> shapes) {
        Optional<ShapeMix> known = asked.isEmpty() ? storedFor(shapes) : Optional.empty();
        if (known.isPresent()) {
            asked = known;
            restart();
            idle.request(known.get());
            return;
        }
        if (requests == MOST_REQUESTS || seen.isEmpty()) {
            return;
        }
        requests++;
        ShapeMix mix = new ShapeMix(enclosing(ofOneRank(seen)), changes);
        asked = Optional.of(mix);
        seen.clear();
        idle.request(mix);
    }

    /** Returns the shapes whose inputs have the most frequent numbers of dimensions. */
    private static Map<List<List<Integer>>, Integer> ofOneRank(
            Map<List<List<Integer>>, Integer> counts) {
        Map<List<Integer>, Integer> byRanks = new HashMap<>();
        counts.forEach((shapes, count) -> byRanks.merge(ranks(shapes), count, Integer::sum));
        List<Integer> most =
                Collections.max(byRanks.entrySet(), Map.Entry.comparingByValue()).getKey();
        Map<List<List<Integer>>, Integer> alike = new HashMap<>(counts);
        alike.keySet().removeIf(shapes -> !ranks(shapes).equals(most));
        return alike;
    }

    private static List<Integer> ranks(List<List<Integer>> shapes) {
        return shapes.stream().map(List::size).toList();
    }

    /**
     * Returns the smallest shapes, the largest ones, and the third ones with which these two
     * enclose the most predictions.
     */
    private static List<List<List<Integer>>> enclosing(Map<List<List<Integer>>, Integer> counts) {
        List<List<List<Integer>>> bySize = new ArrayList<>(counts.keySet());
        bySize.sort(
                Comparator.<List<List<Integer>>>comparingDouble(ShapeMix::elements)
                        .thenComparing(Object::toString));
        if (bySize.size() <= ShapeMix.MOST) {
            return bySize;
        }
        List<List<Integer>> smallest = bySize.get(0);
        List<List<Integer>> largest = bySize.get(bySize.size() - 1);
        List<List<List<Integer>>> best = List.of();
        int most = -1;
        for (List<List<Integer>> third : bySize.subList(1, bySize.size() - 1)) {
            List<List<List<Integer>>> these = List.of(smallest, third, largest);
            ShapeMix mix = new ShapeMix(these, 1);
            int count = 0;
            for (Map.Entry<List<List<Integer>>, Integer> each : counts.entrySet()) {
                count += mix.encloses(each.getKey()) ? each.getValue() : 0;
            }
            if (count > most) {
                most = count;
                best = these;
            }
        }
        return best;
    }

    /**
     * Returns the largest shapes at which the current choice was verified and no delegate has
     * failed; empty if they do not have more elements than the given ones.
     */
    Optional<List<List<Integer>>> largerThan(List<List<Integer>> shapes) {
        return verified.flatMap(v -> largest(v.mix()))
                .filter(largest -> ShapeMix.elements(largest) > ShapeMix.elements(shapes));
    }

    /**
     * Returns the largest shapes of a mix at which no delegate has failed, by number of elements.
     */
    Optional<List<List<Integer>>> largest(ShapeMix mix) {
        return mix.shapes().stream()
                .filter(shapes -> !refused.contains(shapes))
                .max(Comparator.comparingDouble(ShapeMix::elements));
    }

    /** Returns a text about the choice for other shapes; empty if there is none. */
    Optional<String> describe() {
        return verified.map(
                v ->
                        "%s, measured at %s, of which %s: %s"
                                .formatted(
                                        v.choice().candidate().delegates()
                                                ? v.choice().candidate().operators().size()
                                                        + " operators delegated"
                                                        + (v.choice().candidate().transientBuffers()
                                                                ? ", buffers built for each"
                                                                        + " prediction"
                                                                : "")
                                                : "CPU kernels",
                                        v.mix().shapes(),
                                        often(v.mix().changes()),
                                        v.choice().reason()));
    }

    private static String often(double changes) {
        return changes == 1
                ? "each prediction has others"
                : "one in " + Math.round(1 / changes) + " predictions has others";
    }
}
