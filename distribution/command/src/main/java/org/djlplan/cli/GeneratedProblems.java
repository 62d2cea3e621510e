package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * Generates planning problems of any size for benchmarks; the same kind, size and seed always give
 * the same problem.
 */
enum GeneratedProblems {
    /**
     * Inference: a chain of operators with one tensor each, read by the next operator; every fourth
     * tensor is read again up to 16 operators later, as by a residual connection or concatenation,
     * and one in 64 much later. Few tensors are alive at once, whatever their total number.
     */
    NETWORK {
        @Override
        List<UsageRecord> records(int units, SplittableRandom random) {
            List<UsageRecord> records = new ArrayList<>();
            for (int i = 0; i < units; i++) {
                int reach = 1;
                if (random.nextInt(64) == 0) {
                    reach = random.nextInt(17, 128);
                } else if (random.nextInt(4) == 0) {
                    reach = random.nextInt(2, 17);
                }
                records.add(new UsageRecord(i, i, Math.min(i + reach, units), bytes(random)));
            }
            return records;
        }
    },
    /**
     * Training: every second tensor of a forward operator is kept for its gradient, which runs in
     * the reverse order, so half of all tensors are nested; the others live for a few operators.
     * The number of tensors alive at once grows in proportion to their total number.
     */
    TRAINING {
        @Override
        List<UsageRecord> records(int units, SplittableRandom random) {
            List<UsageRecord> records = new ArrayList<>();
            for (int i = 0; i < units; i++) {
                int mirror = 2 * units - 1 - i;
                if (i % 2 == 0) {
                    records.add(new UsageRecord(i, i, mirror, bytes(random)));
                } else {
                    int first = random.nextBoolean() ? i : mirror;
                    int last = Math.min(first + random.nextInt(1, 4), 2 * units - 1);
                    records.add(new UsageRecord(i, first, last, bytes(random)));
                }
            }
            return records;
        }
    };

    /** The seed of all benchmarks, so that figures can be compared. */
    static final long SEED = 2020;

    private static final int MOST_CHANNELS = 64;

    abstract List<UsageRecord> records(int units, SplittableRandom random);

    /**
     * Returns a problem of {@code units} tensors without aliases; sizes are aligned.
     *
     * @param units number of tensors, at least one
     */
    PlanningProblem problem(int units, long seed) {
        checkArgument(units > 0, "%s units", units);
        return new PlanningProblem(records(units, new SplittableRandom(seed)));
    }

    /** Returns the name of this kind in options and reports. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Sizes of feature maps: a power of two of positions times a number of channels. */
    private static long bytes(SplittableRandom random) {
        long positions = 1L << random.nextInt(4, 13);
        long bytes = positions * random.nextInt(1, MOST_CHANNELS + 1) * Float.BYTES;
        return UsageRecords.alignedBytes(bytes);
    }
}
