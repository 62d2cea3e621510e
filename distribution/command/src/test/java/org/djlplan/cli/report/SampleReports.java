package org.djlplan.cli.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.djlplan.cli.report.MemoryMap.Layout;
import org.djlplan.cli.report.MemoryMap.Owner;
import org.djlplan.cli.report.MemoryMap.Span;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.MemoryMap.Tensor;

/** Reports that contain every possible part. */
final class SampleReports {

    private SampleReports() {}

    /**
     * Returns a chain of operators. Each reads the output of the one before, and writes to the
     * other half of an arena; the third overwrites its input.
     */
    static Report chain(int tensors, String name) {
        List<Tensor> all = new ArrayList<>();
        List<String> operators = new ArrayList<>();
        List<Long> breadths = new ArrayList<>();
        Map<Integer, Long> offsets = new HashMap<>();
        for (int i = 0; i < tensors; i++) {
            operators.add("OP_" + i);
            breadths.add(i == 0 ? 64L : 128L);
            offsets.put(i, i % 2 * 64L);
            all.add(
                    new Tensor(
                            name + i,
                            Optional.of(List.of(1, -1, 16)),
                            Optional.of("float32"),
                            64,
                            i,
                            Math.min(i + 1, tensors - 1),
                            OptionalInt.of(i),
                            i + 1 < tensors ? List.of(i + 1) : List.of(),
                            i % 5 == 4 ? Owner.TEMPORARY : Owner.ARENA,
                            i == 2 ? OptionalInt.of(0) : OptionalInt.empty()));
        }
        offsets.put(2, 0L);
        all.add(
                new Tensor(
                        "out",
                        Optional.empty(),
                        Optional.empty(),
                        7,
                        tensors - 1,
                        tensors - 1,
                        OptionalInt.empty(),
                        List.of(),
                        Owner.IO,
                        OptionalInt.empty()));
        Strategy best =
                new Strategy(
                        "best-fit",
                        Layout.OFFSETS,
                        128,
                        .25,
                        true,
                        true,
                        Optional.of(offsets),
                        List.of());
        Strategy shared =
                new Strategy(
                        "shared",
                        Layout.SHARED_OBJECTS,
                        128,
                        .5,
                        true,
                        false,
                        Optional.of(offsets),
                        List.of(new Span(0, 64), new Span(64, 64)));
        return new Report(
                "0",
                new Report.Model(name, "TFLite", "file", OptionalLong.of(1), Optional.empty()),
                Map.of(),
                new MemoryMap(
                        operators,
                        List.of(),
                        all,
                        breadths,
                        64L * tensors,
                        128,
                        128,
                        128,
                        List.of(best, shared),
                        "best-fit"),
                Map.of());
    }
}
