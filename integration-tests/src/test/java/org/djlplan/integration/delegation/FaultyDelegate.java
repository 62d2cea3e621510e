package org.djlplan.integration.delegation;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.integration.nativecode.NativeProgram;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * A delegate that computes correctly, and then damages the output of one operator ({@code
 * faulty_delegate.c}). Tests set the fault between two inferences. One library serves one model at
 * a time.
 */
final class FaultyDelegate {

    /** Stands for every claimed operator, instead of an operator's index. */
    static final int EVERY = -1;

    private static final ImmutableList<String> MATHEMATICS =
            ImmutableList.of("-Wl,--no-as-needed", "-lm");

    private final Path library;
    private final Functions functions;

    /** The faults of an operator's output, in the order of the native library. */
    enum Fault {
        NONE,
        BORDER,
        CHANNEL_ZERO,
        CHANNEL_GAIN,
        F16,
        BF16,
        INT8,
        ACTIVATION,
        SHIFTED,
        STRIDE,
        STALE,
        SWAPPED,
        DENORMALS,
        SATURATED,
        NOT_A_NUMBER,
        TAIL,
        ROW,
        GAIN,
        ELEMENT,
        HALF_EVEN,
        HALF_UP,
        COARSE
    }

    private interface Functions extends Library {
        void faulty_claim(int[] ids, int count, int withXnnpack);

        void faulty_select(int site, int fault);

        void faulty_limit(int damages);

        void faulty_slow(int inferences);

        int faulty_slow_left();
    }

    private FaultyDelegate(Path library) {
        this.library = library;
        functions = Native.load(library.toString(), Functions.class);
    }

    /** Compiles the delegate into a folder. */
    static FaultyDelegate compile(Path folder) throws Exception {
        return new FaultyDelegate(library(folder));
    }

    /** Compiles a delegate with one fixed fault, for processes in which the test cannot set it. */
    static Path library(Path folder, int site, Fault fault) throws Exception {
        return library(folder, "-DSITE=" + site, "-DFAULT=" + fault.ordinal(), "-DREST=1");
    }

    private static Path library(Path folder, String... options) throws Exception {
        List<String> all = ImmutableList.<String>builder().add(options).addAll(MATHEMATICS).build();
        return new NativeProgram(folder)
                .compileLibrary(
                        "libfaulty.so",
                        NativeProgram.SOURCES.resolve("faulty_delegate.c"),
                        all.toArray(String[]::new));
    }

    /** Returns its name for {@code delegation.delegate}. */
    String name() {
        return library.toString();
    }

    /**
     * Sets which operators later delegates claim.
     *
     * @param withXnnpack whether XNNPACK takes the other operators that it supports
     */
    void claim(List<Integer> operators, boolean withXnnpack) {
        functions.faulty_claim(Ints.toArray(operators), operators.size(), withXnnpack ? 1 : 0);
    }

    /** Returns at most this number of some operators, spread over the model. */
    static List<Integer> allOver(List<Integer> operators, int most) {
        int count = Math.min(most, operators.size());
        return IntStream.range(0, count)
                .mapToObj(i -> operators.get((2 * i + 1) * operators.size() / (2 * count)))
                .toList();
    }

    /** Damages the outputs of a claimed operator from now on. */
    void select(int operator, Fault fault) {
        functions.faulty_select(operator, fault.ordinal());
    }

    /** Damages the outputs of a claimed operator in the next inferences. */
    void select(int operator, Fault fault, int inferences) {
        select(operator, fault);
        functions.faulty_limit(inferences);
    }

    /** Makes the next inferences take 20 ms more. */
    void slow(int inferences) {
        functions.faulty_slow(inferences);
    }

    /** Returns how many inferences will still take longer. */
    int slowLeft() {
        return functions.faulty_slow_left();
    }
}
