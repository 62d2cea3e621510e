package org.djlplan.memplan.serving;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.runtime.NativeLoader;
import org.djlplan.memplan.runtime.Workers;
import org.djlplan.memplan.runtime.tflite.InputShapes;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the classes that planning needs and the native library, once per JVM and beside DJL, which
 * loads its engine in the meantime. Otherwise the first model of a JVM would wait for them.
 */
public final class ClassPreloader {

    private static final Logger logger = LoggerFactory.getLogger(ClassPreloader.class);
    private static final String MODEL = "warm_up.tflite";

    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private ClassPreloader() {}

    /** Starts in the background, unless that was done before. */
    public static void start() {
        if (!STARTED.getAndSet(true)) {
            Thread thread = DaemonThreads.make(ClassPreloader::run, "djl-plan-warm-up");
            try {
                thread.start();
            } catch (OutOfMemoryError e) {
                logger.debug("no thread is to be had", e);
            }
        }
    }

    private static void run() {
        try {
            NativeLoader.preload();
            Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(model(), MODEL), MODEL);
            MemoryPlanner.plan(graph);
            warmUpPredictions();
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            // Whoever needs it will say so.
            logger.debug("not warmed up", e);
        }
    }

    /** Also what the first prediction needs. */
    private static void warmUpPredictions() throws InterruptedException {
        Workers.warmUp();
        ThreadGovernor.warmUp();
        List<List<Integer>> unused =
                InputShapes.effective(List.of(), List.of(), List.of(), List.of());
    }

    private static ByteBuffer model() throws IOException {
        try (InputStream in = ClassPreloader.class.getResourceAsStream(MODEL)) {
            return ByteBuffer.wrap(in.readAllBytes());
        }
    }
}
