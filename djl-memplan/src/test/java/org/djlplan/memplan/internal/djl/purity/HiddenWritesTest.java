package org.djlplan.memplan.internal.djl.purity;

import static org.djlplan.memplan.internal.djl.purity.Code.assertNotPure;
import static org.djlplan.memplan.internal.djl.purity.Code.assertPure;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ListIterator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which writes through views and by methods that read are found. */
class HiddenWritesTest {

    static Stream<Block> hiddenWriters() {
        return Stream.of(
                new Code() {
                    private final List<NDArray> state = new ArrayList<>();

                    @Override
                    NDArray run(NDArray x) {
                        ListIterator<NDArray> iterator = state.listIterator();
                        NDArray last = iterator.next();
                        iterator.set(x.mul(2));
                        return x.add(last);
                    }
                },
                new Code() {
                    private final List<Integer> state = new ArrayList<>();

                    @Override
                    NDArray run(NDArray x) {
                        state.listIterator().add(3);
                        return x.mul(state.size());
                    }
                },
                new Code() {
                    private final Integer[] array = {1};

                    @Override
                    NDArray run(NDArray x) {
                        Arrays.asList(array).set(0, 2);
                        return x.mul(array[0]);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        return new NDList(x).head().addi(1);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDList list = new NDList();
                        list.addAll(List.of(x));
                        return list.get(0).addi(1);
                    }
                },
                new Code() {
                    private final float[] window = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.wrap(window).put(3);
                        return x.mul(window[0]);
                    }
                },
                new Code() {
                    private final ByteBuffer memory = ByteBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        memory.duplicate().asFloatBuffer().put(0, 3f);
                        return x.mul(memory.getFloat(0));
                    }
                },
                new Code() {
                    private final float[] window = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.wrap(window).array()[0] = 2;
                        return x.mul(window[0]);
                    }
                },
                new Code() {
                    private final FloatBuffer buffer = FloatBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(buffer.get());
                    }
                },
                new Code() {
                    private final float[] floats = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.allocate(8).get(floats);
                        return x.mul(floats[0]);
                    }
                },
                new Code() {
                    private final float[] floats = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.allocate(8).get(0, floats);
                        return x.mul(floats[0]);
                    }
                },
                new Code() {
                    private final FloatBuffer source = FloatBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(FloatBuffer.allocate(8).put(source).get(0));
                    }
                },
                new Code() {
                    private final Integer[] cache = {1};

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(List.of(count).toArray(cache)[0]);
                    }
                },
                new Code() {
                    private final Integer[] cache = {1};

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(List.of(count).toArray(size -> cache)[0]);
                    }
                },
                new Code() {
                    private final char[] chars = new char[20];

                    @Override
                    NDArray run(NDArray x) {
                        "digits".getChars(0, 3, chars, 0);
                        return x.mul((int) chars[0]);
                    }
                },
                new Code() {
                    private final List<NDArray> list = new ArrayList<>();

                    @Override
                    NDArray run(NDArray x) {
                        return Stream.of(x).collect(Collectors.toCollection(() -> list)).get(0);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("hiddenWriters")
    void look_writeThroughAViewOrByReading_isNotPure(Block block) {
        assertNotPure(block);
    }

    static Stream<Block> writersOfTheirOwn() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDList list = new NDList(x.mul(2), x.mul(3));
                        ListIterator<NDArray> iterator = list.listIterator();
                        while (iterator.hasNext()) {
                            iterator.set(iterator.next().add(1));
                        }
                        List<NDArray> both = Arrays.asList(x, list.head());
                        both.set(0, x.mul(2));
                        return both.toArray(new NDArray[0])[0];
                    }
                },
                new Code() {
                    private final float[] table = {1};
                    private final ByteBuffer memory = ByteBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        float[] floats = new float[1];
                        FloatBuffer.wrap(table).get(floats);
                        FloatBuffer own = FloatBuffer.wrap(floats);
                        own.put(0, 3).rewind();
                        ByteBuffer view = memory.duplicate();
                        return x.mul(own.get() + memory.getFloat(0) + view.getFloat())
                                .add(x.getManager().create(FloatBuffer.wrap(table), new Shape(1)));
                    }
                },
                new Code() {
                    private final List<Integer> sizes = List.of(1);

                    @Override
                    NDArray run(NDArray x) {
                        int sum = 0;
                        ListIterator<Integer> iterator = sizes.listIterator();
                        while (iterator.hasNext()) {
                            sum += iterator.next();
                        }
                        return sizes.stream()
                                .map(x::mul)
                                .collect(Collectors.toCollection(NDList::new))
                                .get(sum);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("writersOfTheirOwn")
    void look_writeIntoAnObjectOfThePass_isPure(Block block) {
        assertPure(block);
    }
}
