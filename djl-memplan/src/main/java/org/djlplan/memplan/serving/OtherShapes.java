package org.djlplan.memplan.serving;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.djlplan.memplan.runtime.Later;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what runs predictions whose inputs have other shapes than in the model's file: the CPU
 * kernels, or a choice that was verified at shapes that enclose theirs. It notes which shapes there
 * are and how often they change, and has a choice measured when there were enough predictions, or
 * when these are no longer like those that were measured.
 */
final class OtherShapes {

    private static final Logger logger = LoggerFactory.getLogger(OtherShapes.class);

    /** After so many predictions it is looked at what shapes there were; later after more. */
    private static final int WINDOW = 32;

    /** So often something is measured while a model is loaded. */
    private static final int MOST_REQUESTS = 4;

    private static final int MOST_SEEN = 256;
    private static final int MOST_REFUSED = 256;

    /** What the share of changes is rounded up to, so that chance does not make a difference. */
    private static final double[] CHANGES = {1.0 / 16, 1.0 / 4, 1};

    private final String model;

    /** Where the delegate failed. */
    private final Set<List<List<Integer>>> refused = ConcurrentHashMap.newKeySet();

    private volatile Optional<Verified> verified = Optional.empty();

    /** How often shapes were there. Guarded by this, as all that follows. */
    private final Map<List<List<Integer>>, Integer> seen = new HashMap<>();

    private Optional<Consumer<ShapeMix>> measuring = Optional.empty();
    private Optional<ShapeMix> asked = Optional.empty();
    private boolean waiting;
    private int requests;
    private int predictions;
    private int enclosed;
    private int changed;

    /** A choice, and the shapes at which it was verified. */
    private record Verified(ShapeMix mix, DelegationChoice choice) {}

    OtherShapes(String model) {
        this.model = model;
    }

    /** Has choices measured from now on; they are expected at {@link #use}. */
    synchronized void measureWith(Consumer<ShapeMix> measure) {
        measuring = Optional.of(measure);
    }

    /** Returns what runs predictions with inputs of these shapes: as many threads as usual. */
    Candidate at(List<List<Integer>> shapes, Candidate usual) {
        Optional<Verified> now = verified;
        if (now.isEmpty() || !now.get().mix().encloses(shapes) || refused.contains(shapes)) {
            return Candidate.cpu(usual.threads());
        }
        DelegationChoice choice = now.get().choice();
        for (Candidate each : choice.candidates()) {
            if (each.threads() == usual.threads()) {
                return each;
            }
        }
        return choice.lightest();
    }

    /** Returns how many candidates there may be besides the CPU kernels. */
    int candidates() {
        return verified.map(v -> v.choice().candidates().size()).orElse(0);
    }

    /** Uses a choice for what a mix of shapes encloses. */
    void use(ShapeMix mix, DelegationChoice choice) {
        verified = Optional.of(new Verified(mix, choice));
        answered();
    }

    /** Ends the wait for what was asked for; nothing may have come of it. */
    synchronized void answered() {
        waiting = false;
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

    /** Notes that an interpreter had to be allocated for a prediction. */
    synchronized void noteChange() {
        changed++;
    }

    /** Notes a prediction, and may ask for a choice. */
    synchronized void note(List<List<Integer>> shapes) {
        if (measuring.isEmpty()) {
            return;
        }
        if (seen.size() < MOST_SEEN || seen.containsKey(shapes)) {
            seen.merge(shapes, 1, Integer::sum);
        }
        predictions++;
        enclosed += asked.isPresent() && asked.get().encloses(shapes) ? 1 : 0;
        if (predictions >= WINDOW << requests) {
            double changes = rounded((double) changed / predictions);
            boolean same =
                    asked.isPresent()
                            && asked.get().changes() == changes
                            && 2 * enclosed >= predictions;
            if (!same && !waiting && requests < MOST_REQUESTS) {
                ask(changes);
            }
            predictions = 0;
            enclosed = 0;
            changed = 0;
        }
    }

    private static double rounded(double share) {
        for (double each : CHANGES) {
            if (share <= each) {
                return each;
            }
        }
        return 1;
    }

    /** The caller holds the lock. */
    private void ask(double changes) {
        requests++;
        waiting = true;
        ShapeMix mix = new ShapeMix(enclosing(new HashMap<>(seen)), changes);
        asked = Optional.of(mix);
        seen.clear();
        Consumer<ShapeMix> measure = measuring.orElseThrow();
        if (!Later.run(Duration.ZERO, () -> measure.accept(mix))) {
            waiting = false;
        }
    }

    /**
     * Returns the smallest shapes, the largest, and those with which they enclose most predictions.
     */
    private static List<List<List<Integer>>> enclosing(Map<List<List<Integer>>, Integer> counts) {
        List<List<List<Integer>>> bySize = new ArrayList<>(counts.keySet());
        bySize.sort(
                Comparator.<List<List<Integer>>>comparingDouble(OtherShapes::elements)
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

    private static double elements(List<List<Integer>> shapes) {
        double sum = 0;
        for (List<Integer> shape : shapes) {
            double product = 1;
            for (int dimension : shape) {
                product *= dimension;
            }
            sum += product;
        }
        return sum;
    }

    /** Returns whether nothing is measured at present. */
    synchronized boolean isSettled() {
        return !waiting;
    }

    /** Returns what runs other shapes and why, for people; empty if nothing was measured. */
    Optional<String> describe() {
        return verified.map(
                v ->
                        "%s, measured at %s, of which %s: %s"
                                .formatted(
                                        v.choice().candidate().delegates()
                                                ? v.choice().candidate().operators().size()
                                                        + " operators delegated"
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
