package org.djlplan.memplan.internal.engine;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.engine.EngineProvider;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides the engine "TFLite". DJL keeps the first provider of a name that it finds. So if DJL's
 * own TFLite engine is on the class path, with a DJL version that it works with, this provider
 * returns that engine.
 */
public final class TfLiteEngineProvider implements EngineProvider {

    static final String NAME = "TFLite";

    /** The rank of DJL's own engine: after all engines that support training. */
    static final int RANK = 10;

    private static final Logger logger = LoggerFactory.getLogger(TfLiteEngineProvider.class);
    private static final String STOCK = "ai.djl.tflite.engine.TfLiteEngineProvider";

    /** The first minor version of DJL 0 with which the stock engine does not work. */
    private static final int BROKEN_SINCE = 34;

    private final Optional<EngineProvider> stock;
    private final Optional<String> problem;

    /** Checks the class path without loading anything. Called by DJL. */
    public TfLiteEngineProvider() {
        stock = stock();
        if (stock.isPresent() && breaksStock(Engine.getDjlVersion())) {
            problem =
                    Optional.of(
                            "remove ai.djl.tflite:tflite-engine from the class path: it does not"
                                    + " work with DJL "
                                    + Engine.getDjlVersion()
                                    + " and breaks the loading of models; djl-memplan brings the"
                                    + " engine TFLite itself");
            logger.error("{}", problem.get());
        } else if (stock.isEmpty() && !hasLibrary()) {
            problem = Optional.of("the engine TFLite has no native library: " + advice());
        } else {
            problem = Optional.empty();
        }
    }

    /**
     * Returns whether the class path, or the environment, has the engine's library. A missing class
     * must not affect other engines.
     */
    private static boolean hasLibrary() {
        try {
            return LibraryFile.exists();
        } catch (LinkageError e) {
            logger.debug("the engine TFLite lacks a class", e);
            return false;
        }
    }

    private static String advice() {
        try {
            return LibraryFile.advice();
        } catch (LinkageError e) {
            return "add all that djl-memplan needs: " + e;
        }
    }

    /** Returns whether DJL's own engine of 0.27.0 does not work with a version of DJL. */
    static boolean breaksStock(String djlVersion) {
        String[] parts = djlVersion.split("[^0-9]+", -1);
        try {
            return Integer.parseInt(parts[0]) > 0 || Integer.parseInt(parts[1]) >= BROKEN_SINCE;
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return true;
        }
    }

    private static Optional<EngineProvider> stock() {
        try {
            return Optional.of(
                    Class.forName(STOCK)
                            .asSubclass(EngineProvider.class)
                            .getDeclaredConstructor()
                            .newInstance());
        } catch (ReflectiveOperationException | LinkageError e) {
            return Optional.empty();
        }
    }

    @Override
    public String getEngineName() {
        return NAME;
    }

    /** An unavailable engine must not become DJL's default. */
    @Override
    public int getEngineRank() {
        return problem.isPresent() ? Integer.MAX_VALUE : RANK;
    }

    /**
     * Returns the engine; the first call loads its native library.
     *
     * @throws EngineException if no engine works here; the message says what to do
     */
    @Override
    public Engine getEngine() {
        if (problem.isPresent()) {
            throw new EngineException(problem.get());
        }
        return stock.isPresent() ? stock.get().getEngine() : TfLiteEngine.instance();
    }
}
