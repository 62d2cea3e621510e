import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures calls of a C function through JNA's direct mapping, which djl-plan uses, or through the
 * Foreign Function and Memory API of JDK 22 and later: the processor time until the first call has
 * returned, the classes that are loaded until then, and the time of a later call. The function has
 * the parameters of the call that djl-plan makes per prediction, and does nothing. Before the first
 * call, the second API makes handles for SIGNATURES functions with different parameters.
 *
 * <p>Usage: {@code NativeCalls jna} or {@code NativeCalls ffm SIGNATURES}
 *
 * <p>docs/results/foreign.txt has the commands.
 */
public final class NativeCalls {

    private static final int WARM = 300_000;
    private static final int CALLS = 500_000;
    private static final int REPETITIONS = 5;

    private NativeCalls() {}

    /** Calls through JNA, in a class of its own so that {@code ffm} does not load JNA. */
    private static final class Jna {
        static {
            Native.register(Jna.class, NativeLibrary.getInstance("c"));
        }

        static native int memcmp(Pointer first, Pointer second, long bytes);

        static long run(int calls) {
            Pointer memory = new Pointer(4096);
            long sum = 0;
            for (int i = 0; i < calls; i++) {
                sum += memcmp(memory, memory, 0);
            }
            return sum;
        }
    }

    /** Calls through the Foreign Function and Memory API. */
    private static final class Foreign {
        private static final MethodHandle COMPARE = foreign();

        private static MethodHandle foreign() {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(
                    linker.defaultLookup().find("memcmp").orElseThrow(),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT,
                            ValueLayout.ADDRESS,
                            ValueLayout.ADDRESS,
                            ValueLayout.JAVA_LONG));
        }

        /** Makes handles of functions, each with different parameters. */
        static void link(int signatures) {
            Linker linker = Linker.nativeLinker();
            ValueLayout[] types = {
                ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT
            };
            for (int i = 0; i < signatures; i++) {
                List<ValueLayout> parameters = new ArrayList<>();
                for (int rest = i + 3; rest > 0; rest /= 3) {
                    parameters.add(types[rest % 3]);
                }
                MethodHandle unused =
                        linker.downcallHandle(
                                linker.defaultLookup().find("memcmp").orElseThrow(),
                                FunctionDescriptor.of(
                                        ValueLayout.JAVA_INT,
                                        parameters.toArray(new ValueLayout[0])));
            }
        }

        static long run(int calls) throws Throwable {
            MemorySegment memory = MemorySegment.ofAddress(4096);
            long sum = 0;
            for (int i = 0; i < calls; i++) {
                sum += (int) COMPARE.invokeExact(memory, memory, 0L);
            }
            return sum;
        }
    }

    /** Returns the processor time of this thread, so that other programs do not count. */
    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long run(boolean isForeign, int calls) throws Throwable {
        return isForeign ? Foreign.run(calls) : Jna.run(calls);
    }

    public static void main(String[] arguments) throws Throwable {
        boolean isForeign = arguments[0].equals("ffm");
        cpuNanos();
        long classes = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
        long start = cpuNanos();
        if (isForeign) {
            Foreign.link(Integer.parseInt(arguments[1]));
        }
        long sum = run(isForeign, 1);
        double first = (cpuNanos() - start) / 1e6;
        classes = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount() - classes;
        sum += run(isForeign, WARM);
        double best = Double.MAX_VALUE;
        for (int i = 0; i < REPETITIONS; i++) {
            start = cpuNanos();
            sum += run(isForeign, CALLS);
            best = Math.min(best, (cpuNanos() - start) / (double) CALLS);
        }
        System.out.printf(
                Locale.ROOT,
                "%s: first call after %.1f ms, %d classes; later calls %.1f ns each (%d)%n",
                arguments[0],
                first,
                classes,
                best,
                sum);
    }
}
