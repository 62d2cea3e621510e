package org.djlplan.memplan.internal.config;

import java.util.Optional;

/**
 * What a load makes.
 *
 * @param shared whether loads of the same file share one model
 * @param translatorFactory class name of the factory to wrap
 * @param blockFactory class name of the block factory to wrap
 */
public record LoadOptions(
        boolean shared, Optional<String> translatorFactory, Optional<String> blockFactory) {

    /** A model of its own, from DJL's factories. */
    static final LoadOptions DEFAULT = new LoadOptions(false, Optional.empty(), Optional.empty());
}
