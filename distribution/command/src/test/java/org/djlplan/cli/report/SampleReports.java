package org.djlplan.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        List<Long> offsets = new ArrayList<>();
        for (int i = 0; i < tensors; i++) {
            operators.add("OP_" + i);
            breadths.add(i == 0 ? 64L : 128L);
            offsets.add(i == 2 ? 0 : i % 2 * 64L);
            all.add(
                    new Tensor(
                            name + i,
                            Optional.of(List.of(1, -1, 16)),
                            Optional.of("float32"),
                            64,
                            i,
                            Math.min(i + 1, tensors - 1),
                            Optional.of(i),
                            i + 1 < tensors ? List.of(i + 1) : List.of(),
                            i % 5 == 4 ? Owner.TEMPORARY : Owner.ARENA,
                            i == 2 ? Optional.of(0) : Optional.empty()));
        }
        all.add(
                new Tensor(
                        "out",
                        Optional.empty(),
                        Optional.empty(),
                        7,
                        tensors - 1,
                        tensors - 1,
                        Optional.empty(),
                        List.of(),
                        Owner.IO,
                        Optional.empty()));
        Strategy best =
                new Strategy(
                        "best-fit",
                        Layout.OFFSETS,
                        128,
                        .25,
                        true,
                        true,
                        Optional.of(offsets),
                        Optional.empty());
        Strategy shared =
                new Strategy(
                        "shared",
                        Layout.SHARED_OBJECTS,
                        128,
                        .5,
                        true,
                        false,
                        Optional.of(offsets),
                        Optional.of(List.of(new Span(0, 64), new Span(64, 64))));
        return new Report(
                "0",
                new Report.Model(name, "TFLite", "file", Optional.of(1L), Optional.empty()),
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
