package org.djlplan.integration.limits;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * Predicts in a separate JVM while its memory limit is lowered. Prints {@code OK} if every output
 * equals the stock engine's, and then the report.
 */
final class LimitedMemory {

    private static final int RLIMIT_DATA = 2;
    private static final int RLIMIT_AS = 9;
    private static final int PREDICTIONS = 4;
    private static final long MEGA = 1 << 20;

    private static final int HEAP_BLOCKS = 800;

    /** Smaller than blocks that the C library maps separately. */
    private static final long HEAP_BLOCK_BYTES = 100_000;

    private static final AtomicReference<Memory> LAST_BLOCK = new AtomicReference<>();

    private LimitedMemory() {}

    /**
     * {@code ENGINE FILE addresses|data MEGABYTES SHAPE…}: predicts with the first shape, then
     * limits the addresses, or the writable memory, that may still be mapped, and then predicts
     * with every shape.
     */
    public static void main(String[] arguments) throws Exception {
        String engine = arguments[0];
        Path file = Path.of(arguments[1]);
        Shape[] shapes =
                Arrays.stream(arguments).skip(4).map(LimitedMemory::shape).toArray(Shape[]::new);
        byte[][] answers = new byte[shapes.length][];
        // Closed first, because the planned model could use its idle arena.
        try (ZooModel<NDList, NDList> stock = criteria(engine, file).build().loadModel();
                Predictor<NDList, NDList> expected = stock.newPredictor()) {
            for (int i = 0; i < shapes.length; i++) {
                answers[i] = predict(expected, stock, shapes[i]);
            }
        }
        try (ZooModel<NDList, NDList> model =
                        criteria(engine, file)
                                .optTranslatorFactory(new PlannedTranslatorFactory())
                                .build()
                                .loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            boolean before = !engine.equals("TFLite") || shapes.length > 1;
            for (int i = 0; before && i < PREDICTIONS; i++) {
                check(answers[0], predict(predictor, model, shapes[0]));
            }
            System.out.println(
                    "before "
                            + planned(model)
                            + ' '
                            + PlanReport.of(model).orElseThrow().plan().arenaBytes());
            keepFreeHeap();
            limit(arguments[2].equals("data"), Long.parseLong(arguments[3]) * MEGA);
            for (int i = 0; i < PREDICTIONS; i++) {
                for (int k = shapes.length - 1; k >= 0; k--) {
                    check(answers[k], predict(predictor, model, shapes[k]));
                }
            }
            boolean elsewhere =
                    PlanReport.of(model).orElseThrow().predictions().unplannedAllocations() > 0;
            System.out.println("after " + planned(model) + " elsewhere " + elsewhere);
        }
        System.out.println("OK");
    }

    private static Criteria.Builder<NDList, NDList> criteria(String engine, Path file) {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine(engine)
                        .optModelPath(file);
        if (engine.equals("TFLite")) {
            // Uses one thread, because threads need more addresses than are left. Only djl-plan can
            // set this in DJL, so the reference is planned, too.
            criteria.optTranslatorFactory(new PlannedTranslatorFactory())
                    .optArgument("delegation.enabled", "false")
                    .optArgument("memplan.threads", "1");
        }
        return criteria;
    }

    private static Shape shape(String numbers) {
        return new Shape(
                Arrays.stream(numbers.split(",", -1)).mapToLong(Long::parseLong).toArray());
    }

    private static boolean planned(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().planned();
    }

    private static void check(byte[] expected, byte[] answer) {
        if (!Arrays.equals(expected, answer)) {
            throw new IllegalStateException("another answer");
        }
    }

    private static byte[] predict(
            Predictor<NDList, NDList> predictor, ZooModel<NDList, NDList> model, Shape shape)
            throws Exception {
        try (NDManager manager = model.getNDManager().newSubManager()) {
            NDList outputs = predictor.predict(Application.input(manager, shape, 1));
            ByteBuffer output = outputs.head().toByteBuffer();
            byte[] bytes = new byte[output.remaining()];
            output.get(bytes);
            outputs.close();
            return bytes;
        }
    }

    private static void limit(boolean data, long moreBytes) throws IOException {
        long used = kibibytes(data ? "VmData:" : "VmSize:") * 1024;
        long[] limits = {used + moreBytes, -1};
        int status =
                NativeLibrary.getProcess()
                        .getFunction("setrlimit")
                        .invokeInt(new Object[] {data ? RLIMIT_DATA : RLIMIT_AS, limits});
        if (status != 0) {
            throw new IllegalStateException("setrlimit failed");
        }
    }

    /**
     * Leaves more free memory in the C library's heap than a prediction takes. So only the arena,
     * which is a separate mapping, lacks memory later.
     */
    private static void keepFreeHeap() {
        List<Memory> blocks = new ArrayList<>();
        for (int i = 0; i < HEAP_BLOCKS; i++) {
            blocks.add(new Memory(HEAP_BLOCK_BYTES));
        }
        // The last block stays; otherwise the C library would return the end of the heap.
        LAST_BLOCK.set(blocks.remove(HEAP_BLOCKS - 1));
        blocks.forEach(Memory::close);
    }

    private static long kibibytes(String key) throws IOException {
        Optional<String> line =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(text -> text.startsWith(key))
                        .findFirst();
        return Long.parseLong(line.orElseThrow().replaceAll("\\D", ""));
    }
}
