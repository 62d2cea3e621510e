package org.djlplan.memplan.internal.config;

import java.util.Locale;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Options of earlier versions. Their keys are accepted without effect in this minor version, so
 * that an old {@code serving.properties} still loads; one warning per load names them. The next
 * minor version rejects them as unknown keys.
 */
final class RetiredOptions {

    private static final String LIMITS = "use memplan.workers or memplan.maxPredictions";

    /** Each key, or key and value, and the advice that follows it in the warning. */
    static final ImmutableMap<String, String> ADVICE =
            ImmutableMap.<String, String>builder()
                    .put("memplan.reorder", "operators run in the file's order")
                    .put("memplan.strategy", "the best of all plans is used; see djlplan plan")
                    .put("memplan.inPlace", "kernels write over inputs where it saves 512 KiB")
                    .put("memplan.search", "the portfolio's plan is used")
                    .put("memplan.liveness=tree", "auto is used")
                    .put("memplan.sharedArena", "models share arenas")
                    .put("memplan.sharedWorkspaces", "models share workspaces")
                    .put("memplan.hugePages", "the system's default applies")
                    .put("memplan.maxArenas", LIMITS)
                    .put("memplan.maxInterpreters", LIMITS)
                    .put("memplan.arenaWaitMillis", "no prediction waits for an arena")
                    .put("memplan.io", "use memplan.budget=64MB:direct")
                    .put("memplan.cacheQuota", "files take at most twice the model's size")
                    .put("memplan.budgetMode", "use memplan.budget=64MB:best-effort")
                    .put("memplan.inputShapes", "use memplan.warmup=1,3,224,224")
                    .put(
                            "memplan.store",
                            "ship the result of djlplan tune in the model's folder or archive, and"
                                    + " set delegation.onMissing")
                    .put("delegation.threads", "use memplan.threads")
                    .put("delegation.profileBudget", "use delegation.profile=blocking:10s")
                    .put("delegation.progress", "use PlannedTranslatorFactory.withProgress")
                    .buildOrThrow();

    private RetiredOptions() {}

    /** Returns the retired key, or key and value, that an option sets; empty if it is current. */
    static Optional<String> of(String key, Object value) {
        if (ADVICE.containsKey(key)) {
            return Optional.of(key);
        }
        String withValue = key + "=" + value.toString().trim().toLowerCase(Locale.ROOT);
        return ADVICE.containsKey(withValue) ? Optional.of(withValue) : Optional.empty();
    }

    /** Returns the warning about retired options, or empty if there are none. */
    static Optional<String> warning(Iterable<String> retired) {
        StringBuilder text = new StringBuilder();
        for (String each : retired) {
            text.append(text.isEmpty() ? "" : "; ");
            text.append(each).append(": ").append(ADVICE.get(each));
        }
        return text.isEmpty()
                ? Optional.empty()
                : Optional.of("options of an earlier version have no effect: " + text);
    }
}
