package org.djlplan.memplan.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;

/** Large planning problems with the shape of real profiles, reproducible by seed. */
public final class SyntheticProfiles {

    private static final int RECORDS_PER_LAYER = 8;
    private static final int RECORDS_PER_REQUEST = 25;

    private final Random random;
    private final List<UsageRecord> records = new ArrayList<>();

    private SyntheticProfiles(long seed) {
        random = new Random(seed);
    }

    /**
     * Returns a training step: weights that live all the time; activations that live from their
     * layer's forward pass to its backward pass; short temporaries of both passes; and gradients
     * that live for a while.
     *
     * @param count about how many records
     */
    public static PlanningProblem training(int count, long seed) {
        SyntheticProfiles profile = new SyntheticProfiles(seed);
        int layers = count / RECORDS_PER_LAYER;
        int end = 4 * layers + 10;
        for (int layer = 0; layer < layers; layer++) {
            profile.layer(2 * layer, end - 2 * layer - 2, end, Math.min(layers, 400));
        }
        return new PlanningProblem(profile.records);
    }

    /**
     * Returns requests that are served at the same time, each a chain of short tensors with some
     * that skip ahead, and one tensor that lives as long as the request.
     *
     * @param count about how many records
     */
    public static PlanningProblem serving(int count, long seed) {
        SyntheticProfiles profile = new SyntheticProfiles(seed);
        int now = 0;
        for (int request = 0; request < count / RECORDS_PER_REQUEST; request++) {
            now += profile.random.nextInt(6);
            profile.request(now, 1 + profile.random.nextInt(4));
        }
        return new PlanningProblem(profile.records);
    }

    private void layer(int forward, int backward, int end, int longestGradient) {
        long width = 1L << random.nextInt(6);
        add(0, end, 64 * upTo(256) * width);
        add(forward, backward + 1, 4096 * upTo(32));
        add(forward, forward + random.nextInt(3), 4096 * upTo(64));
        add(forward, forward + random.nextInt(8), 1024 * upTo(64));
        add(backward, backward + random.nextInt(3), 4096 * upTo(64));
        add(backward, backward + random.nextInt(3), 4096 * upTo(64));
        add(backward, backward + 1 + random.nextInt(8), 1024 * upTo(64));
        add(backward, Math.min(end, backward + random.nextInt(longestGradient)), 64 * upTo(64));
    }

    private void request(int start, int step) {
        int layers = RECORDS_PER_REQUEST - 1;
        add(start, start + layers * step + 1, 4096 * upTo(256));
        for (int layer = 0; layer < layers; layer++) {
            int first = start + layer * step;
            int steps = random.nextInt(6) == 0 ? 2 + random.nextInt(8) : 1;
            add(first, first + steps * step, 256 * upTo(1 << (4 + random.nextInt(7))));
        }
    }

    private long upTo(int most) {
        return 1L + random.nextInt(most);
    }

    private void add(int first, int last, long bytes) {
        records.add(new UsageRecord(records.size(), first, last, bytes));
    }
}
