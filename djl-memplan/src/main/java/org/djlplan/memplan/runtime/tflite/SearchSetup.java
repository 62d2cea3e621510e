package org.djlplan.memplan.runtime.tflite;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.plan.portfolio.PlanImprover;

/**
 * How smaller plans of a model are searched and kept.
 *
 * @param mode when they are searched
 * @param cacheFolder where they are kept when that is not possible beside the model
 * @param improvers make what searches for so long altogether
 */
public record SearchSetup(
        SearchMode mode, Path cacheFolder, Function<Duration, PlanImprover> improvers) {}
