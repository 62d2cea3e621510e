package org.djlplan.memplan.internal.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;

class ReportSourcesTest {

    private static final Supplier<PlanReport> ONE = source("one");
    private static final Supplier<PlanReport> OTHER = source("other");

    private static Supplier<PlanReport> source(String why) {
        PlanReport report = Reports.unplanned("PyTorch", why);
        return Optional.of(report)::orElseThrow;
    }

    /** A block that equals every other one, and whose hash code changes. */
    private static final class OddBlock extends SequentialBlock {

        private int hash;

        @Override
        public boolean equals(Object other) {
            return other instanceof OddBlock;
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    private static Model model(Block block) {
        return (Model)
                Proxy.newProxyInstance(
                        Model.class.getClassLoader(),
                        new Class<?>[] {Model.class},
                        (proxy, method, arguments) -> block);
    }

    @Test
    void of_blocksThatAreEqual_isTheSourceOfEach() {
        OddBlock one = new OddBlock();
        OddBlock other = new OddBlock();
        ReportSources.register(one, ONE);
        ReportSources.register(other, OTHER);
        assertSame(ONE, ReportSources.of(model(one)).orElseThrow());
        assertSame(OTHER, ReportSources.of(model(other)).orElseThrow());
    }

    @Test
    void of_blockThatChanged_isItsSource() {
        OddBlock block = new OddBlock();
        ReportSources.register(block, ONE);
        block.hash++;
        assertSame(ONE, ReportSources.of(model(block)).orElseThrow());
    }

    @Test
    void register_again_replacesTheSource() {
        OddBlock block = new OddBlock();
        ReportSources.register(block, ONE);
        ReportSources.register(block, OTHER);
        assertSame(OTHER, ReportSources.of(model(block)).orElseThrow());
    }

    @Test
    void of_anyOtherBlock_isEmpty() {
        assertEquals(Optional.empty(), ReportSources.of(model(new OddBlock())));
    }
}
