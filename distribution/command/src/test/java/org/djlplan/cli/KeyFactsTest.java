package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

class KeyFactsTest {

    private static ImmutableMap<String, String> loads(String... facts) {
        ImmutableMap.Builder<String, String> all = ImmutableMap.builder();
        all.put("cores", "4").put("objective", "latency").put("tolerance", "auto");
        all.put("delegate", "xnnpack").put("threads", "1,2,4");
        for (int i = 0; i < facts.length; i += 2) {
            all.put(facts[i], facts[i + 1]);
        }
        return KeyFacts.loads(all.buildKeepingLast());
    }

    @Test
    void loads_defaultFacts_needNoOptions() {
        assertEquals(Map.of(), loads());
        assertEquals(Map.of(), loads("cores", "1", "threads", "1"));
        assertEquals(Map.of("memplan.threads", "1"), KeyFacts.loads(Map.of("threads", "1")));
    }

    @Test
    void loads_nonDefaultFacts_areOptions() {
        assertEquals(
                Map.of(
                        "memplan.threads", "2",
                        "delegation.objective", "memory",
                        "delegation.maxMemory", "64000000",
                        "delegation.tolerance", "0.01",
                        "delegation.delegate", "/opt/libgpu.so",
                        "delegation.exclude", "TANH"),
                loads(
                        "threads",
                        "2",
                        "objective",
                        "memory",
                        "maxMemoryBytes",
                        "64000000",
                        "tolerance",
                        "0.01",
                        "delegate",
                        "/opt/libgpu.so, 12 bytes of 2026-01-01T00:00:00Z",
                        "exclude",
                        "TANH"));
    }

    @Test
    void loads_otherShapes_needEveryShape() {
        String mix = "ShapeMix[shapes=[[[1, 8]]], changes=1.0]";
        String transientBuffers = "xnnpack-transient";
        Map<String, String> expected = Map.of("delegation.enabled", "every-shape");
        assertEquals(expected, loads("shapes", mix));
        assertEquals(expected, loads("shapes", mix, "delegate", transientBuffers));
        assertEquals(
                Map.of(
                        "delegation.enabled",
                        "every-shape",
                        "delegation.delegate",
                        transientBuffers),
                loads("shapes", mix.replace("1.0", "0.0625"), "delegate", transientBuffers));
        assertEquals("at [[[1, 8]]]", KeyFacts.text(Map.entry("shapes", mix)));
        assertEquals("other", KeyFacts.text(Map.entry("shapes", "other")).substring(3));
    }

    @Test
    void loadsText_fixedThreads_namesTheOption() {
        String text = KeyFacts.loadsText(Map.of("threads", "2", "cores", "4"));
        assertEquals("found by loads with memplan.threads=2", text);
    }

    @Test
    void loads_lowerPrecision_isNamed() {
        assertEquals(
                Map.of("delegation.precision", "int8:0.98", "memplan.threads", "2"),
                KeyFacts.loads(
                        Map.of("precision", "int8:0.98", "tolerance", "auto", "threads", "2")));
    }

    @Test
    void loads_excludedOperators_areNamed() {
        assertEquals(
                Map.of("delegation.exclude", "3-5,9", "memplan.threads", "2"),
                KeyFacts.loads(Map.of("exclude", "3-5,9", "threads", "2")));
    }
}
