package org.djlplan.memplan.cli;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Synthetic planning problems of any size for benchmarks; the same kind, size and seed always give
 * the same problem.
 */
enum GeneratedProblems {
    /**
     * Inference: a chain of operators of one tensor each, used by the next operator; every fourth
     * is used again up to 16 operators later, as by a residual or a concatenation, and one in 64
     * long after. Few tensors are alive at once, however many there are.
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
     * Training: one tensor of a forward operator in two is kept for the operator's gradient, which
     * runs in the reverse order, so that half of all tensors are nested; the others live for a few
     * operators. As many tensors are alive at once as a share of all.
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

    /** Of every benchmark, so that figures can be compared. */
    static final long SEED = 2020;

    private static final int MOST_CHANNELS = 64;

    abstract List<UsageRecord> records(int units, SplittableRandom random);

    /**
     * Returns a problem of {@code units} tensors without aliases; sizes are aligned.
     *
     * @param units at least one
     */
    PlanningProblem problem(int units, long seed) {
        checkArgument(units > 0, "%s units", units);
        return new PlanningProblem(records(units, new SplittableRandom(seed)));
    }

    /** Returns the name by which options and reports call this kind. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Feature maps: a power of two of positions by a number of channels. */
    private static long bytes(SplittableRandom random) {
        long positions = 1L << random.nextInt(4, 13);
        long bytes = positions * random.nextInt(1, MOST_CHANNELS + 1) * Float.BYTES;
        return UsageRecords.alignedBytes(bytes);
    }
}
