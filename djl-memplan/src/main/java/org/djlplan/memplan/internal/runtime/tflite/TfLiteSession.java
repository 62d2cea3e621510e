package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToIntBiFunction;
import org.djlplan.memplan.errors.UnsoundModelException;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.budget.Schedule;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** One interpreter of the engine, called through the native library. */
final class TfLiteSession implements EngineSession {

    /** Bytes of a {@code struct djlplan_binding}. */
    private static final int BINDING_BYTES = 16;

    /** {@code TfLiteInPlaceOp}, as the engine's arena planner reads it. */
    private static final int DATA_UNMODIFIED = 1;

    private static final int INPUT_0_SHARED = 4;
    private static final int MOST_INPUTS_SHARED = 3;

    /**
     * A tensor that a kernel derives from a constant in its first inference. After that inference,
     * the kernel reads this tensor instead of the constant.
     *
     * @param step the kernel's position in execution order
     */
    record Derived(int step, int tensor, int constant) {}

    private Pointer handle;

    private TfLiteSession(Pointer handle) {
        this.handle = handle;
    }

    static TfLiteSession create(Pointer model, Spec spec) throws UnplannableException {
        return create(model, spec, Optional.empty());
    }

    /**
     * Builds an interpreter.
     *
     * @param shaped a session that is allocated for the shapes at which the delegate takes its
     *     operators; empty for those in the file
     */
    static TfLiteSession create(Pointer model, Spec spec, Optional<TfLiteSession> shaped)
            throws UnplannableException {
        return build(
                model,
                spec.threads(),
                session -> {
                    spec.planned().ifPresent(session::plan);
                    spec.delegated().ifPresent(session::delegate);
                    shaped.ifPresent(
                            other ->
                                    TfLiteNative.djlplan_tflite_session_shapes(
                                            session.handle, other.handle));
                    if (spec.timed()) {
                        TfLiteNative.djlplan_tflite_session_time(session.handle);
                    }
                });
    }

    /**
     * Builds an interpreter whose constants are loaded while it runs.
     *
     * @param planned as {@link Spec#planned()}
     * @param more configures the session before it is built
     */
    static TfLiteSession streamed(
            Pointer model, int threads, List<Integer> planned, Consumer<TfLiteSession> more)
            throws UnplannableException {
        return build(
                model,
                threads,
                session -> {
                    session.plan(planned);
                    TfLiteNative.djlplan_tflite_session_stream(session.handle);
                    TfLiteNative.djlplan_tflite_session_time(session.handle);
                    more.accept(session);
                });
    }

    /** Returns the partitions that a delegate would take: operators by index. */
    static List<Set<Integer>> partitions(Pointer model, int threads, NativeDelegate delegate)
            throws UnplannableException {
        try (TfLiteSession session =
                build(
                        model,
                        threads,
                        s ->
                                TfLiteNative.djlplan_tflite_session_preview(
                                        s.handle, new Pointer(delegate.handle())))) {
            Cursor cursor = new Cursor(session.ints(TfLiteNative::djlplan_tflite_partitions));
            ImmutableList.Builder<Set<Integer>> partitions = ImmutableList.builder();
            while (cursor.hasNext()) {
                partitions.add(ImmutableSortedSet.copyOf(cursor.list()));
            }
            return partitions.build();
        }
    }

    private static TfLiteSession build(
            Pointer model, int threads, Consumer<TfLiteSession> configuration)
            throws UnplannableException {
        TfLiteSession session = new TfLiteSession(TfLiteNative.djlplan_tflite_session_new());
        if (session.handle == null) {
            throw new UnplannableException("out of memory");
        }
        try {
            configuration.accept(session);
            int status = TfLiteNative.djlplan_tflite_session_build(session.handle, model, threads);
            if (status == TfLiteNative.MISMATCH) {
                throw new PackedWeightsMissedException(session.error());
            }
            if (status != TfLiteNative.OK) {
                throw new UnplannableException(session.error());
            }
            return session;
        } catch (UnplannableException | RuntimeException | Error e) {
            session.close();
            throw e;
        }
    }

    private void plan(List<Integer> ids) {
        check(TfLiteNative.djlplan_tflite_session_plan(handle, Ints.toArray(ids), ids.size()));
    }

    private void delegate(Delegated delegated) {
        check(
                TfLiteNative.djlplan_tflite_session_delegate(
                        handle,
                        new Pointer(delegated.delegate().handle()),
                        Ints.toArray(delegated.operators()),
                        delegated.operators().size()));
    }

    /**
     * Delegates operators.
     *
     * @param constants addresses of constants that the model's file does not contain, by tensor
     */
    void delegate(Delegated delegated, Map<Integer, Pointer> constants) {
        delegate(delegated);
        try (Memory addresses = new Memory((long) Native.POINTER_SIZE * (constants.size() + 1))) {
            int count = 0;
            for (Pointer address : constants.values()) {
                addresses.setPointer((long) Native.POINTER_SIZE * count++, address);
            }
            check(
                    TfLiteNative.djlplan_tflite_session_constants(
                            handle, Ints.toArray(constants.keySet()), addresses, count));
        }
    }

    private Pointer handle() {
        checkState(handle != null, "the interpreter is closed");
        return handle;
    }

    @Override
    public void resize(int input, List<Integer> shape) {
        check(
                TfLiteNative.djlplan_tflite_resize(
                        handle(), input, Ints.toArray(shape), shape.size()));
    }

    @Override
    public void allocate() {
        check(TfLiteNative.djlplan_tflite_allocate(handle()));
    }

    @Override
    public void fill(int input, byte[] strings) {
        check(TfLiteNative.djlplan_tflite_fill(handle(), input, strings, strings.length));
    }

    @Override
    public boolean place(int[] ids, long[] offsets, long arenaBytes) {
        int status =
                TfLiteNative.djlplan_tflite_place(handle(), ids, offsets, ids.length, arenaBytes);
        return status == TfLiteNative.OK;
    }

    @Override
    public Optional<Fitted> fit() {
        long[] places = new long[2 + outputs().size()];
        return TfLiteNative.djlplan_tflite_fit(handle(), places) == TfLiteNative.OK
                ? Optional.of(
                        new Fitted(
                                places[0], places[1], Arrays.copyOfRange(places, 2, places.length)))
                : Optional.empty();
    }

    @Override
    public void invokeStock() {
        check(TfLiteNative.djlplan_tflite_invoke(handle(), null, 0));
    }

    @Override
    public boolean invoke(Arena arena) {
        return fits(TfLiteNative.djlplan_tflite_invoke(handle(), arena.address(), arena.bytes()));
    }

    /** Returns whether the plan fits; fails for any other reason. */
    private boolean fits(int status) {
        if (status != TfLiteNative.MISMATCH) {
            check(status);
        }
        return status != TfLiteNative.MISMATCH;
    }

    /** Returns what the kernels of a streamed session derive; known once it is allocated. */
    ImmutableList<Derived> derived() {
        Cursor cursor = new Cursor(ints(TfLiteNative::djlplan_tflite_derived));
        ImmutableList.Builder<Derived> derived = ImmutableList.builder();
        while (cursor.hasNext()) {
            derived.add(new Derived(cursor.next(), cursor.next(), cursor.next()));
        }
        return derived.build();
    }

    /**
     * Sets the places of constants.
     *
     * @param stream has taken the same schedule
     * @return whether they fit the engine's needs
     */
    boolean bind(WeightStream stream, Schedule schedule) {
        int[] ids = Ints.toArray(ImmutableSortedSet.copyOf(schedule.places().keySet()));
        long[] offsets = Arrays.stream(ids).mapToLong(schedule.places()::get).toArray();
        if (!place(ids, offsets, schedule.arenaBytes())) {
            return false;
        }
        List<Schedule.Binding> bindings = schedule.bindings();
        byte[] elided = new byte[schedule.elided().size()];
        for (int i = 0; i < elided.length; i++) {
            elided[i] = (byte) (schedule.elided().get(i) ? 1 : 0);
        }
        try (Memory list = new Memory((long) BINDING_BYTES * Math.max(1, bindings.size()))) {
            for (int i = 0; i < bindings.size(); i++) {
                long at = (long) BINDING_BYTES * i;
                list.setInt(at, bindings.get(i).step());
                list.setInt(at + 4, bindings.get(i).tensor());
                list.setLong(at + 8, bindings.get(i).offsetBytes());
            }
            return fits(
                    TfLiteNative.djlplan_tflite_bind(
                            handle(), stream.handle(), list, bindings.size(), elided));
        }
    }

    /**
     * Runs once in the stream's arena.
     *
     * @return whether the plan still fitted; if not, nothing ran
     * @throws IllegalStateException if weights cannot be read or the engine fails
     */
    boolean invokeStreamed() {
        return fits(TfLiteNative.djlplan_tflite_invoke_streamed(handle()));
    }

    /**
     * Runs once, and writes each derived tensor into a file.
     *
     * @param offsets offsets in the file, in the order of {@link #derived}
     * @throws IllegalStateException if it cannot be written, weights cannot be read, or the engine
     *     fails
     */
    void invokeCapturing(Path file, long[] offsets) {
        check(TfLiteNative.djlplan_tflite_invoke_capturing(handle(), file.toString(), offsets));
    }

    @Override
    public String error() {
        return TfLiteNative.djlplan_tflite_error(handle());
    }

    private void check(int status) {
        if (status == TfLiteNative.UNSOUND) {
            throw new UnsoundModelException(error());
        }
        if (status != TfLiteNative.OK) {
            throw new IllegalStateException("TensorFlow Lite: " + error());
        }
    }

    @Override
    public List<Integer> inputs() {
        return ids(TfLiteNative::djlplan_tflite_input);
    }

    @Override
    public List<Integer> outputs() {
        return ids(TfLiteNative::djlplan_tflite_output);
    }

    private List<Integer> ids(ToIntBiFunction<Pointer, Integer> at) {
        ImmutableList.Builder<Integer> ids = ImmutableList.builder();
        for (int id = at.applyAsInt(handle(), 0), i = 1; id >= 0; i++) {
            ids.add(id);
            id = at.applyAsInt(handle, i);
        }
        return ids.build();
    }

    @Override
    public List<LiveNode> nodes() {
        Cursor cursor = new Cursor(ints(TfLiteNative::djlplan_tflite_nodes));
        List<LiveNode> nodes = new ArrayList<>();
        while (cursor.hasNext()) {
            nodes.add(
                    new LiveNode(
                            cursor.next(),
                            cursor.next(),
                            inPlace(cursor.next()),
                            cursor.list(),
                            cursor.list(),
                            cursor.list(),
                            cursor.list()));
        }
        return nodes;
    }

    /**
     * @param told the engine's {@code inplace_operator}, −1 for a release that has none
     */
    private static Optional<Operator.InPlace> inPlace(int told) {
        if (told < 0) {
            return Optional.empty();
        }
        ImmutableSet.Builder<Integer> inputs = ImmutableSet.builder();
        for (int i = 0; i < MOST_INPUTS_SHARED; i++) {
            if ((told & INPUT_0_SHARED << i) != 0) {
                inputs.add(i);
            }
        }
        return Optional.of(new Operator.InPlace(inputs.build(), (told & DATA_UNMODIFIED) != 0));
    }

    @Override
    public long[] times() {
        return longs(TfLiteNative::djlplan_tflite_times);
    }

    /** A native function that writes an array of numbers up to a limit. */
    private interface Numbers<T> {
        long write(Pointer session, T out, long capacity);
    }

    private long[] longs(Numbers<long[]> source) {
        long[] numbers = new long[Ints.checkedCast(source.write(handle(), new long[0], 0))];
        source.write(handle, numbers, numbers.length);
        return numbers;
    }

    private int[] ints(Numbers<int[]> source) {
        int[] numbers = new int[Ints.checkedCast(source.write(handle(), new int[0], 0))];
        source.write(handle, numbers, numbers.length);
        return numbers;
    }

    @Override
    public List<LiveTensor> tensors() {
        Cursor cursor = new Cursor(ints(TfLiteNative::djlplan_tflite_tensors));
        long[] sizes = longs(TfLiteNative::djlplan_tflite_sizes);
        List<LiveTensor> tensors = new ArrayList<>();
        while (cursor.hasNext()) {
            int id = tensors.size();
            tensors.add(
                    new LiveTensor(
                            cursor.next(),
                            Allocation.values()[cursor.next()],
                            cursor.next() == 1,
                            cursor.next() == 1,
                            cursor.list(),
                            sizes[2 * id],
                            sizes[2 * id + 1]));
        }
        return tensors;
    }

    @Override
    public void close() {
        if (handle != null) {
            TfLiteNative.djlplan_tflite_session_delete(handle);
            handle = null;
        }
    }

    /** Reads numbers one after another. */
    private static final class Cursor {
        private final int[] numbers;
        private int position;

        Cursor(int[] numbers) {
            this.numbers = numbers;
        }

        boolean hasNext() {
            return position < numbers.length;
        }

        int next() {
            return numbers[position++];
        }

        List<Integer> list() {
            int size = next();
            List<Integer> list = Ints.asList(numbers).subList(position, position + size);
            position += size;
            return list;
        }
    }
}
