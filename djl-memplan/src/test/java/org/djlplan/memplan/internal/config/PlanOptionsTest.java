package org.djlplan.memplan.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.djlplan.memplan.report.WeightIo;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.Origin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlanOptionsTest {

    private static final List<Option> DELEGATION =
            List.of(
                    new SampleOption("delegation.enabled", "true", Origin.ANYONE),
                    new SampleOption("delegation.profile", "background", Origin.ANYONE),
                    new SampleOption("delegation.memory", "", Origin.ANYONE));

    private static PlanOptions parse(Map<String, ?> options) {
        return parse(options, DELEGATION);
    }

    private static PlanOptions parse(Map<String, ?> options, List<Option> delegation) {
        return PlanOptions.parse(GivenOptions.of(options, Map.of(), Map.of(), delegation));
    }

    private static String problem(Map<String, ?> arguments) {
        return assertThrows(IllegalArgumentException.class, () -> parse(arguments)).getMessage();
    }

    @Test
    void parse_nothing_givesTheDocumentedDefaults() {
        assertEquals(
                new PlanOptions(
                        true,
                        false,
                        -1,
                        Liveness.AUTO,
                        false,
                        Warmup.NONE,
                        new WorkerCount(WorkerCount.AUTO),
                        RequestOptions.UNLIMITED,
                        BudgetOptions.UNLIMITED,
                        LoadOptions.DEFAULT,
                        Map.of()),
                parse(Map.of()));
        assertTrue(parse(Map.of()).delegationEnabled());
    }

    @Test
    void parse_everyKey_isRead() {
        PlanOptions options =
                parse(
                        Map.ofEntries(
                                Map.entry("memplan.enabled", "FALSE"),
                                Map.entry("memplan.required", "True"),
                                Map.entry("memplan.threads", "2"),
                                Map.entry("memplan.liveness", "Op"),
                                Map.entry("memplan.verify", "true"),
                                Map.entry("memplan.warmup", "1,3; 7:INT64;scalar:int64"),
                                Map.entry("memplan.workers", "5"),
                                Map.entry("memplan.maxPredictions", 7),
                                Map.entry("memplan.budget", "12.5%: Best-Effort :Direct"),
                                Map.entry("memplan.sharedBudget", "256MB"),
                                Map.entry("memplan.maxRequest", "64MB"),
                                Map.entry("memplan.shared", "TRUE"),
                                Map.entry("memplan.limitDimensions", 512),
                                Map.entry("memplan.batchTokens", "4096.0"),
                                Map.entry("memplan.translatorFactory", "a.B"),
                                Map.entry("memplan.blockFactory", "c.D"),
                                Map.entry("delegation.enabled", "False")));
        assertEquals(
                new PlanOptions(
                        false,
                        true,
                        2,
                        Liveness.OP,
                        true,
                        new Warmup(
                                true,
                                List.of(
                                        new InputShape(List.of(1L, 3L), "float32"),
                                        new InputShape(List.of(7L), "int64"),
                                        new InputShape(List.of(), "int64"))),
                        new WorkerCount(5),
                        new RequestOptions(
                                OptionalInt.of(7), 64_000_000, 512, OptionalInt.of(4096)),
                        new BudgetOptions(
                                new Budget.ShareOfStock(.125),
                                OptionalLong.of(256_000_000),
                                true,
                                WeightIo.DIRECT),
                        new LoadOptions(true, Optional.of("a.B"), Optional.of("c.D")),
                        Map.of("delegation.enabled", "False")),
                options);
        assertFalse(options.delegationEnabled());
    }

    @Test
    void awaitingDelegation_required_measuresWhileLoading() {
        Map<String, String> profiles =
                Map.of(
                        "background", "blocking",
                        "Background:3s", "blocking:3s",
                        "blocking:3s", "blocking:3s",
                        "off", "off");
        profiles.forEach(
                (given, wanted) ->
                        assertEquals(wanted, awaited("true", Map.of("delegation.profile", given))));
        assertEquals("blocking", awaited("true", Map.of()));
        assertEquals("background", awaited("false", Map.of("delegation.profile", "background")));
    }

    private static String awaited(String required, Map<String, String> delegation) {
        Map<String, Object> arguments = new HashMap<>(delegation);
        arguments.put("memplan.required", required);
        return parse(arguments).awaitingDelegation().delegation().get("delegation.profile");
    }

    @ParameterizedTest
    @EnumSource
    void parse_keyWithALetterMissing_isNamedWithTheRightOne(OptionKey key) {
        String misspelt = key.key().substring(0, key.key().length() - 1);
        assertEquals(
                "unknown option " + misspelt + "; the nearest known one is " + key.key(),
                problem(Map.of(misspelt, "1")));
    }

    @Test
    void parse_unknownDelegationKey_namesTheNearest() {
        String message = problem(Map.of("delegation.enabeld", "true"));
        assertTrue(message.contains("delegation.enabeld"), message);
        assertTrue(message.endsWith("delegation.enabled"), message);
    }

    @Test
    void parse_delegationModuleAbsent_admitsItsKeys() {
        Map<String, String> arguments = Map.of("delegation.objective", "latency");
        assertEquals(arguments, parse(arguments, List.of()).delegation());
    }

    @ParameterizedTest
    @CsvSource({"true, true, false", "Every-Shape, true, true", "false, false, false"})
    void parse_delegationEnabled_saysForWhichShapes(String value, boolean enabled, boolean every) {
        PlanOptions options = parse(Map.of("delegation.enabled", value));
        assertEquals(enabled, options.delegationEnabled());
        assertEquals(every, options.delegatesEveryShape());
        assertFalse(parse(Map.of()).delegatesEveryShape());
    }

    @ParameterizedTest
    @CsvSource({
        "memplan.enabled, yes, true or false",
        "delegation.enabled, maybe, 'true, false or every-shape'",
        "memplan.maxPredictions, two, a whole number of at least 1",
        "memplan.maxPredictions, 10000000d, a whole number of at least 1",
        "memplan.maxPredictions, 0x10p0, a whole number of at least 1",
        "memplan.maxPredictions, 1e10, a whole number of at least 1",
        "memplan.maxPredictions, 0, a whole number of at least 1",
        "memplan.maxPredictions, NaN, a whole number of at least 1",
        "memplan.maxPredictions, 1.5, a whole number of at least 1",
        "memplan.maxPredictions, 4294967297, a whole number of at least 1",
        "memplan.workers, -1, a whole number of at least 0",
        "memplan.warmup, yes, 'true, false, or shapes such as 1,3,224,224;1,128:int64'",
        "memplan.warmup, '', 'true, false, or shapes such as 1,3,224,224;1,128:int64'",
        "memplan.sharedBudget, 25%, none or a size with its unit such as 256MB",
        "memplan.liveness, block, 'auto, op or off'",
    })
    void parse_wrongValue_namesKeyValueAndExpectedForm(String key, String value, String wanted) {
        assertEquals(key + "=" + value + ": must be " + wanted, problem(Map.of(key, value)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"0", "-2", "1.5", "NaN", "two", "2f", "0x2p0", "", "5000", "2147483647"})
    void parse_threadsThatNoEngineCanStart_areRejectedFromEverySource(String threads) {
        assertEquals(
                "memplan.threads="
                        + threads
                        + ": must be auto or a positive number of at most "
                        + Threads.most(),
                problem(Map.of("memplan.threads", threads)));
        assertTrue(Threads.most() >= 4 * Runtime.getRuntime().availableProcessors());
        assertTrue(Threads.most() < 5000);
    }

    @Test
    void parse_budget_isReadInEveryForm() {
        assertEquals(new Budget.Bytes(48_000_000), budget("48MB"));
        assertEquals(new Budget.Bytes(48 << 20), budget(" 48 MiB "));
        assertEquals(new Budget.Bytes(1_000_000), budget(1e6), "JSON's numbers");
        assertEquals(new Budget.ShareOfStock(.25), budget("25%"));
        assertEquals(new Budget.ShareOfStock(1), budget("100 %"));
        assertEquals(new Budget.Auto(), budget("AUTO"));
        assertEquals(new Budget.Unlimited(), budget("none"));
    }

    private static Budget budget(Object value) {
        return parse(Map.of("memplan.budget", value)).budget().budget();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "64",
                "64:best-effort",
                "999999",
                "64MB:lax",
                "64MB:",
                "-1MB",
                "0%",
                "101%",
                "% 5",
                "1e3%",
                "5 percent",
                "half"
            })
    void parse_wrongBudget_listsValidForms(String value) {
        assertEquals(
                "memplan.budget="
                        + value
                        + ": must be none, auto, a size with its unit such as 64MB, or a share of stock such as"
                        + " 25%; and after it :best-effort, :cached, :mmap or :direct",
                problem(Map.of("memplan.budget", value)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "auto", "48000000", "12.5%", "7%", "33.333333333%"})
    void parse_budgetAsText_isReadAgain(String value) {
        Budget budget = budget(value);
        assertEquals(budget, budget(budget.toString()));
    }

    @Test
    void limited_onlyWithABudget_isTrue() {
        assertFalse(parse(Map.of("memplan.budget", "none")).budget().limited());
        assertTrue(parse(Map.of("memplan.budget", "auto")).budget().limited());
    }

    @Test
    void forThreads_countsWhereNoneAreGiven() {
        assertEquals(3, parse(Map.of()).forThreads(3).threads());
        assertEquals(3, parse(Map.of("memplan.threads", "-1")).forThreads(3).threads());
        assertEquals(3, parse(Map.of("memplan.threads", "Auto")).forThreads(3).threads());
        PlanOptions given = parse(Map.of("memplan.threads", "1", "delegation.memory", "2"));
        assertEquals(given, given.forThreads(3));
        PlanOptions other = parse(Map.of("delegation.memory", "2"));
        assertEquals(other.delegation(), other.forThreads(3).delegation());
    }

    private static String limit(String budget, long bytes) {
        return parse(Map.of("memplan.budget", budget))
                .delegatingUnder(bytes)
                .delegation()
                .get("delegation.maxMemory");
    }

    /** Results are stored for one limit, and only loads with the same limit find them. */
    @ParameterizedTest
    @CsvSource({
        "1073741824, 1073741824",
        "1342177279, 1073741824",
        "1342177280, 1342177280",
        "2147483647, 1879048192",
        "5, 5",
        "1, 1"
    })
    void delegatingUnder_automaticBudget_isOneOfFewLimits(long bytes, String limit) {
        assertEquals(limit, limit("auto", bytes));
        assertEquals(Long.toString(bytes), limit("2GB", bytes));
    }
}
