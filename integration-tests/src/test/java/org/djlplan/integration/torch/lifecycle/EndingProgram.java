package org.djlplan.integration.torch.lifecycle;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorContext;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.torch.Torch;

/**
 * Predicts until a signal ends the JVM, or calls {@code System.exit} during a prediction.
 *
 * <p>Usage: {@code stock|planned text|image MODEL THREADS}, or {@code exit forward|translator}
 */
public final class EndingProgram {

    /** Printed when every thread has predicted a few times. */
    public static final String READY = "predicting";

    /** Printed before the program ends itself. */
    static final String EXITING = "exiting";

    static final int STATUS = 42;

    private static final int FIRST = 2;
    private static final int WORDS = 1000;
    private static final int BATCH = 8;
    private static final int LONGEST = 256;
    private static final int LARGEST_SIDE = 256;
    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private final ZooModel<NDList, NDList> model;
    private final boolean text;
    private final int threads;
    private final AtomicInteger ready = new AtomicInteger();

    private EndingProgram(ZooModel<NDList, NDList> model, boolean text, int threads) {
        this.model = model;
        this.text = text;
        this.threads = threads;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("exit")) {
            exitIn(arguments[1]);
            return;
        }
        Torch.threads(1);
        Path file = Path.of(arguments[2]);
        EndingProgram program =
                new EndingProgram(
                        arguments[0].equals("planned")
                                ? Torch.load(file, Map.of())
                                : Torch.loadStock(file),
                        arguments[1].equals("text"),
                        Integer.parseInt(arguments[3]));
        for (int i = 0; i < program.threads; i++) {
            new Thread(program::predictForever).start();
        }
    }

    private void predictForever() {
        Torch.threads(1);
        Random random = new Random();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; true; i++) {
                try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                    predictor.predict(text ? words(manager, random) : image(manager, random));
                }
                if (i == FIRST && ready.incrementAndGet() == threads) {
                    OUT.println(READY);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns inputs with long passes, so that a JVM ends in the middle of one. */
    private static NDList words(NDManager manager, Random random) {
        Shape shape = new Shape(BATCH, LONGEST - random.nextInt(BATCH));
        return new NDList(manager.create(random.longs(shape.size(), 0, WORDS).toArray(), shape));
    }

    private static NDList image(NDManager manager, Random random) {
        int side = LARGEST_SIDE - random.nextInt(BATCH);
        return new NDList(manager.ones(new Shape(BATCH, 3, side, side)));
    }

    private static void exitIn(String place) throws Exception {
        boolean inForward = place.equals("forward");
        DoingModel.OneNumber translator =
                new DoingModel.OneNumber() {
                    @Override
                    public Float processOutput(TranslatorContext context, NDList outputs) {
                        exit();
                        return 0f;
                    }
                };
        try (DoingModel<Float, Float> doing =
                new DoingModel<>(
                        array -> {
                            if (inForward) {
                                exit();
                            }
                            return array.add(1);
                        },
                        translator,
                        Map.of())) {
            doing.predict(1f);
        }
    }

    private static void exit() {
        OUT.println(EXITING + " " + System.currentTimeMillis());
        System.exit(STATUS);
    }
}
