package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.djlplan.cli.BudgetSweep.Wanted;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BudgetSweepTest {

    private static final long STOCK_BYTES = 240_000_000;

    @ParameterizedTest
    @CsvSource({
        "1/8, 30000000",
        "3/4, 180000000",
        "1/1, 240000000",
        "12.5%, 30000000",
        "64MB, 64000000",
        "1MiB, 1048576",
        "1/1000000000000, 1"
    })
    void wanted_everyForm_isBytesBesideStock(String text, long bytes) {
        Wanted wanted = Wanted.parse(text);
        assertEquals(text, wanted.name());
        assertEquals(bytes, wanted.bytes(STOCK_BYTES));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "auto", "none", "1/0", "0/8", "3/2", "-1/8", "1/8/2", "a/b", "1/"})
    void wanted_anythingElse_isAnErrorThatGivesExamples(String text) {
        assertEquals(
                "no budget: " + text + "; such as 1/8, 12.5% or 64MB is one",
                assertThrows(IllegalArgumentException.class, () -> Wanted.parse(text))
                        .getMessage());
    }
}
