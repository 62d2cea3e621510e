package org.djlplan.integration.current;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * A service with one model of floats, which waits until the model is measured. Prints how many
 * operators are delegated, and whether the outputs equal the CPU kernels'.
 */
final class SmallContainerProgram {

    private static final int PREDICTIONS = 3;

    private SmallContainerProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        Map<String, String> options =
                Map.of("memplan.threads", "1", "delegation.profile", "blocking");
        boolean same = true;
        try (ZooModel<NDList, NDList> model = Planned.load(file, options);
                StockInterpreter stock = new StockInterpreter(file, 1)) {
            for (int seed = 0; seed < PREDICTIONS; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                same &= stock.run(inputs).equals(Planned.predict(model, inputs, stock.shapes()));
            }
            DelegationReport report = PlanReport.of(model).orElseThrow().delegation().orElseThrow();
            System.out.println(
                    "served " + report.origin() + " " + (report.delegatedOperators() > 0));
            System.out.println("same " + same + " agreed " + agreed(report));
            System.out.println(report.reason());
        }
    }

    private static boolean agreed(DelegationReport report) {
        return report.outputs().stream().allMatch(each -> each.difference() <= each.limit());
    }
}
