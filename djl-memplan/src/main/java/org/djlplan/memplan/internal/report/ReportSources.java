package org.djlplan.memplan.internal.report;

import ai.djl.Model;
import ai.djl.nn.Block;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.djlplan.memplan.report.PlanReport;

/** The sources of reports, each kept as long as the block of its model lives. */
public final class ReportSources {

    private static final ReferenceQueue<Block> COLLECTED = new ReferenceQueue<>();
    private static final Map<Key, Supplier<PlanReport>> SOURCES = new ConcurrentHashMap<>();

    /**
     * A key that compares blocks by identity, because an application's block may be equal to
     * another one, and may change.
     */
    private static final class Key extends WeakReference<Block> {

        private final int hash;

        Key(Block block) {
            super(block, COLLECTED);
            hash = System.identityHashCode(block);
        }

        @Override
        public boolean equals(Object other) {
            Block block = get();
            return this == other
                    || (block != null && other instanceof Key key && key.refersTo(block));
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    private ReportSources() {}

    /** Registers the source of reports on a block. */
    public static void register(Block block, Supplier<PlanReport> source) {
        forgetCollected();
        SOURCES.put(new Key(block), source);
    }

    private static void forgetCollected() {
        for (Reference<?> each = COLLECTED.poll(); each != null; each = COLLECTED.poll()) {
            SOURCES.remove(each);
        }
    }

    /** Returns the source that was registered for the model's block. */
    public static Optional<Supplier<PlanReport>> of(Model model) {
        forgetCollected();
        return Optional.ofNullable(SOURCES.get(new Key(model.getBlock())));
    }
}
