package org.djlplan.delegation.store;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.djlplan.delegation.table.Goal;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.store.CpuFeatures;
import org.djlplan.memplan.store.ModelFiles;
import org.djlplan.memplan.store.StoreKey;

/** What a table of measurements depends on. */
public final class ProfileKeys {

    /** The fact that tells the content of one model file from another's. */
    static final String CONTENT = "content";

    private ProfileKeys() {}

    /**
     * Returns the key of a table: the model file's name and content, the facts that the model
     * knows, this machine, and what was asked for.
     *
     * @param threads the numbers of threads among which the choice is made, −1 for the default
     * @param tolerance by which outputs are judged
     * @throws IOException if the model's file cannot be read
     * @throws IllegalArgumentException if a fact of the model has the name of one of ours
     */
    public static StoreKey of(
            DelegableModel model, Goal goal, List<Integer> threads, Tolerance tolerance)
            throws IOException {
        ImmutableMap.Builder<String, String> facts = ImmutableMap.builder();
        facts.putAll(model.facts());
        facts.put(CONTENT, ModelFiles.sampledContent(model.file()));
        facts.put("threads", Joiner.on(',').join(threads));
        facts.put("cpu", CpuFeatures.current());
        facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("objective", goal.objective().name().toLowerCase(Locale.ROOT));
        goal.maxMemoryBytes().ifPresent(bytes -> facts.put("maxMemoryBytes", Long.toString(bytes)));
        facts.put("tolerance", tolerance.toString());
        facts.put("rule", Integer.toString(Tolerance.VERSION));
        return new StoreKey(nameOf(model.file()), facts.buildOrThrow());
    }

    static String nameOf(Path file) {
        return file.toAbsolutePath().getFileName().toString();
    }
}
