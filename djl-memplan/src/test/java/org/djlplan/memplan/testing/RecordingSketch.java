package org.djlplan.memplan.testing;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Builds recordings by hand. The only input has the shape {@code 2x3:float32} and number 0. */
public final class RecordingSketch {

    public static final String PARAMETER = "01inner/02Linear/weight";
    public static final ArrayType TYPE = new ArrayType("float32", ImmutableList.of(2L, 3L));

    private final List<BlockRecording.Operation> operations = new ArrayList<>();
    private final List<BlockRecording.Array> foreign = new ArrayList<>();
    private final Set<Integer> kept = new HashSet<>();
    private int created;

    public RecordingSketch() {
        foreign.add(new BlockRecording.Array(TYPE, true, "data"));
    }

    /** An operation on the input, which makes one array and returns it. */
    public RecordingSketch read(String name) {
        return operation(name, List.of(), List.of(0), 1, true);
    }

    /** An operation on created arrays, which makes one array and returns it. */
    public RecordingSketch op(String name, Integer... uses) {
        return operation(name, List.of(uses), List.of(), 1, true);
    }

    /** An operation on created arrays and a parameter, which makes one array and returns it. */
    public RecordingSketch weighted(String name, Integer... uses) {
        foreign.add(new BlockRecording.Array(TYPE, true, PARAMETER));
        return operation(name, List.of(uses), List.of(foreign.size() - 1), 1, true);
    }

    /** An operation on created arrays, which makes several arrays. */
    public RecordingSketch composite(
            String name, int creations, boolean returnsLast, Integer... uses) {
        return operation(name, List.of(uses), List.of(), creations, returnsLast);
    }

    public RecordingSketch keep(int number) {
        kept.add(number);
        return this;
    }

    private RecordingSketch operation(
            String name,
            List<Integer> uses,
            List<Integer> reads,
            int creations,
            boolean returnsLast) {
        operations.add(
                new BlockRecording.Operation(
                        name, uses, reads, created, created + creations, returnsLast));
        created += creations;
        return this;
    }

    public BlockRecording returning(Integer... outputs) {
        List<BlockRecording.Array> arrays = new ArrayList<>();
        for (int i = 0; i < created; i++) {
            arrays.add(new BlockRecording.Array(TYPE, kept.contains(i), ""));
        }
        return new BlockRecording(arrays, foreign, 1, operations, List.of(outputs));
    }
}
