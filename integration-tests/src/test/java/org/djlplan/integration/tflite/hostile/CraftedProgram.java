package org.djlplan.integration.tflite.hostile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.errors.UnsoundModelException;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.PlainModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.InvalidModelException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Loads crafted files, planned and plain, and predicts with those that load. Prints each file's
 * name before it is used, and the result afterwards, so that the output shows which file caused a
 * signal.
 */
public final class CraftedProgram {

    /** No file may take this long; it would compute something too large for memory. */
    private static final long MOST_SECONDS = 30;

    /** The number of files to load at least, even on a busy machine. */
    static final int LEAST_FILES = 192;

    /** The exceptions that reject a model or an input. */
    private static final ImmutableSet<Class<?>> TYPED =
            ImmutableSet.of(
                    TfLiteFormatException.class,
                    UnplannableException.class,
                    UnsoundModelException.class,
                    IllegalStateException.class,
                    IllegalArgumentException.class);

    private static volatile long begun = System.nanoTime();

    private CraftedProgram() {}

    private static void watch() {
        Thread watch =
                new Thread(
                        () -> {
                            while (System.nanoTime() - begun
                                    < TimeUnit.SECONDS.toNanos(MOST_SECONDS)) {
                                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                            }
                            System.out.println("TIMEOUT");
                            Runtime.getRuntime().halt(1);
                        });
        watch.setDaemon(true);
        watch.start();
    }

    /**
     * Loads files in a random order.
     *
     * @param arguments the folder to write files to, the seed of their order, the nanoseconds for
     *     all files together, the number of the first file, and whether to load only files that
     *     must be refused
     */
    public static void main(String[] arguments) throws Exception {
        StockInterpreter.loadEngine();
        watch();
        Path folder = Path.of(arguments[0]);
        boolean refused = Boolean.parseBoolean(arguments[4]);
        List<CraftedFile> files =
                new ArrayList<>(refused ? RefusedFiles.all() : CraftedFiles.all());
        Collections.shuffle(files, new Random(Long.parseLong(arguments[1])));
        long end = System.nanoTime() + Long.parseLong(arguments[2]);
        int first = Integer.parseInt(arguments[3]);
        int next = first;
        begun = System.nanoTime();
        while (next < files.size() && (begun < end || next - first < LEAST_FILES)) {
            CraftedFile file = files.get(next);
            System.out.println("begin " + next + " " + file.name());
            // Kernels divide work differently on two threads.
            String result = run(file, folder.resolve(next + ".tflite"), 1 + next % 2);
            System.out.println("end " + next + " " + file.name() + ": " + result);
            next++;
            begun = System.nanoTime();
        }
        System.out.println("done " + (next - first));
    }

    private static String run(CraftedFile crafted, Path file, int threads) throws IOException {
        try {
            Path unused = crafted.model().write(file);
        } catch (InvalidModelException e) {
            return "unreadable: " + e.getMessage();
        }
        try {
            List<ByteBuffer> plain = new ArrayList<>();
            String plainly = outcome(() -> plain(crafted, file, threads, plain));
            List<ByteBuffer> planned = new ArrayList<>();
            String plannedly = outcome(() -> planned(crafted, file, threads, planned));
            // A model without a plan runs as plain.
            boolean unplanned = plannedly.startsWith("UnplannableException");
            boolean same = unplanned || plain.equals(planned);
            String difference = same ? "same" : "DIFFERENT " + plain + planned;
            return plainly + " | " + plannedly + " | " + difference;
        } finally {
            Files.delete(file);
        }
    }

    private interface Prediction {
        void run() throws Exception;
    }

    private static String outcome(Prediction prediction) {
        try {
            prediction.run();
            return "ran";
        } catch (Exception e) {
            String text = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
            boolean typed = TYPED.contains(e.getClass()) && !text.contains("capacity < 0");
            return (typed ? "" : "UNTYPED ") + e.getClass().getSimpleName() + ": " + text;
        }
    }

    private static void plain(CraftedFile crafted, Path file, int threads, List<ByteBuffer> outputs)
            throws Exception {
        try (PlainModel model = PlainModel.open(file, threads)) {
            for (OutputTensor output : model.run(crafted.inputs(), crafted.shapes())) {
                outputs.add(output.data());
            }
        }
    }

    private static void planned(
            CraftedFile crafted, Path file, int threads, List<ByteBuffer> outputs)
            throws Exception {
        try (ServedModel model = Served.alone(file, InPlace.AUTO, threads)) {
            for (OutputTensor output : model.run(crafted.inputs(), crafted.shapes())) {
                outputs.add(output.data());
            }
        }
    }
}
