package org.djlplan.memplan.internal.engine;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.BaseNDManager;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.internal.runtime.Buffers;

/** Manages arrays over buffers. Random arrays come from another engine, if there is one. */
class BufferManager extends BaseNDManager {

    private Optional<NDManager> alternative = Optional.empty();

    private BufferManager(NDManager parent, Device device) {
        super(parent, device);
    }

    /** Returns the root manager, which is never closed. */
    static BufferManager system() {
        return SystemManager.INSTANCE;
    }

    /**
     * Returns a manager of the engine for other operations; the first call creates it, and may load
     * that engine.
     */
    final synchronized Optional<NDManager> alternative() {
        if (alternative.isEmpty() && isOpen()) {
            alternative = TfLiteEngine.instance().alternative().map(Engine::newBaseManager);
        }
        return alternative;
    }

    /** Returns a placeholder for the other engine's manager, which is not loaded yet. */
    static NDManager later() {
        return LaterManager.INSTANCE;
    }

    @Override
    public ByteBuffer allocateDirect(int capacity) {
        return ByteBuffer.allocateDirect(capacity).order(ByteOrder.nativeOrder());
    }

    @Override
    public NDArray from(NDArray array) {
        if (array == null || array instanceof BufferArray) {
            return array;
        }
        if (array.getDataType() == DataType.STRING) {
            NDArray strings =
                    create(array.toStringArray(), StandardCharsets.UTF_8, array.getShape());
            strings.setName(array.getName());
            return strings;
        }
        BufferArray copy =
                new BufferArray(
                        this,
                        Buffers.copy(array.toByteBuffer()),
                        array.getShape(),
                        array.getDataType());
        copy.setName(array.getName());
        return copy;
    }

    /** Returns memory that the garbage collector frees, and that is not newly mapped each time. */
    static ByteBuffer heap(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }

    /** Returns an array over a direct byte buffer, or over a copy of any other buffer. */
    @Override
    public NDArray create(Buffer data, Shape shape, DataType dataType) {
        int bytes = bytes(shape, dataType);
        checkArgument(
                data instanceof ByteBuffer
                        || DataType.fromBuffer(data).getNumOfBytes() == dataType.getNumOfBytes(),
                "a %s for elements of type %s",
                data.getClass().getSimpleName(),
                dataType);
        validateBuffer(data, dataType, Math.toIntExact(shape.size()));
        if (data instanceof ByteBuffer given && given.isDirect()) {
            ByteBuffer view = given.slice().order(ByteOrder.nativeOrder());
            return new BufferArray(this, view.limit(bytes), shape, dataType);
        }
        ByteBuffer copy = heap(bytes);
        copyBuffer(data, copy);
        return new BufferArray(this, copy, shape, dataType);
    }

    private static int bytes(Shape shape, DataType dataType) {
        requireElements(dataType);
        return Math.multiplyExact(Math.toIntExact(shape.size()), dataType.getNumOfBytes());
    }

    /**
     * Checks that elements of a type have a size.
     *
     * @throws UnsupportedOperationException for strings, complex numbers and unknown types
     */
    static void requireElements(DataType dataType) {
        if (dataType == DataType.STRING) {
            throw new UnsupportedOperationException(
                    "an array of strings is made of strings, and nothing else of it");
        }
        if (dataType == DataType.UNKNOWN || dataType == DataType.COMPLEX64) {
            throw new UnsupportedOperationException("no arrays of type " + dataType);
        }
    }

    /**
     * Returns an array of strings. It can be reshaped, be an input, and return its strings.
     *
     * @throws IllegalArgumentException if their number does not match the shape
     */
    @Override
    public NDArray create(String[] data, Charset charset, Shape shape) {
        checkArgument(data.length == shape.size(), "%s strings in shape %s", data.length, shape);
        return new BufferArray(this, Strings.pack(data, charset), shape, DataType.STRING);
    }

    @Override
    public NDArray zeros(Shape shape, DataType dataType) {
        return new BufferArray(this, heap(bytes(shape, dataType)), shape, dataType);
    }

    @Override
    public NDArray ones(Shape shape, DataType dataType) {
        return full(shape, 1, dataType);
    }

    @Override
    public NDArray full(Shape shape, float value, DataType dataType) {
        BufferArray array = (BufferArray) zeros(shape, dataType);
        Elements elements = array.elements();
        for (int i = 0; i < elements.count(); i++) {
            elements.set(i, value);
        }
        return array;
    }

    @Override
    public NDArray arange(float start, float stop, float step, DataType dataType) {
        int count = Math.max(0, (int) Math.ceil(((double) stop - start) / step));
        BufferArray array = (BufferArray) zeros(new Shape(count), dataType);
        Elements elements = array.elements();
        for (int i = 0; i < count; i++) {
            elements.set(i, start + i * (double) step);
        }
        return array;
    }

    @Override
    public NDArray eye(int rows, int cols, int k, DataType dataType) {
        BufferArray array = (BufferArray) zeros(new Shape(rows, cols), dataType);
        for (int row = Math.max(0, -k); row < rows && row + k < cols; row++) {
            array.elements().set(row * cols + row + k, 1);
        }
        return array;
    }

    @Override
    public NDArray linspace(float start, float stop, int num, boolean endpoint) {
        BufferArray array = (BufferArray) zeros(new Shape(num), DataType.FLOAT32);
        double step = ((double) stop - start) / Math.max(1, endpoint ? num - 1 : num);
        for (int i = 0; i < num; i++) {
            array.elements().set(i, start + i * step);
        }
        return array;
    }

    @Override
    public NDArray randomInteger(long low, long high, Shape shape, DataType dataType) {
        return elsewhere(
                other -> other.randomInteger(low, high, shape, OtherEngine.require(dataType)));
    }

    @Override
    public NDArray randomPermutation(long n) {
        return elsewhere(other -> other.randomPermutation(n));
    }

    @Override
    public NDArray randomUniform(float low, float high, Shape shape, DataType dataType) {
        return elsewhere(
                other -> other.randomUniform(low, high, shape, OtherEngine.require(dataType)));
    }

    @Override
    public NDArray randomNormal(float loc, float scale, Shape shape, DataType dataType) {
        return elsewhere(
                other -> other.randomNormal(loc, scale, shape, OtherEngine.require(dataType)));
    }

    private NDArray elsewhere(Function<NDManager, NDArray> make) {
        NDManager other = alternative().orElseThrow(() -> OtherEngine.missing("a random array"));
        try (NDArray made = make.apply(other)) {
            return from(made);
        }
    }

    @Override
    public BufferManager newSubManager(Device device) {
        BufferManager manager = new BufferManager(this, device);
        attachUncappedInternal(manager.uid, manager);
        return manager;
    }

    @Override
    public final Engine getEngine() {
        return TfLiteEngine.instance();
    }

    @Override
    public void close() {
        super.close();
        closeAlternative();
    }

    private synchronized void closeAlternative() {
        alternative.ifPresent(NDManager::close);
    }

    private static final class LaterManager extends BufferManager {

        static final NDManager INSTANCE = new LaterManager();

        LaterManager() {
            super(null, null);
        }

        @Override
        public NDArray from(NDArray array) {
            return array instanceof BufferArray own ? OtherEngine.later(own) : array;
        }
    }

    private static final class SystemManager extends BufferManager implements SystemNDManager {

        static final BufferManager INSTANCE = new SystemManager();

        SystemManager() {
            super(null, null);
        }

        @Override
        public void attachInternal(String resourceId, AutoCloseable... attached) {
            // The array would never be removed again.
        }

        @Override
        public void attachUncappedInternal(String resourceId, AutoCloseable resource) {
            // As attachInternal.
        }

        @Override
        public void detachInternal(String resourceId) {
            // Nothing is attached.
        }
    }
}
