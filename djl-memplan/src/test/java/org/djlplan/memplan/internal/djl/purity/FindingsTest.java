package org.djlplan.memplan.internal.djl.purity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class FindingsTest {

    private static final Finding LOOK = new Finding(Finding.Kind.LOOKS, "a.Block", "reads");
    private static final Finding EFFECT = new Finding(Finding.Kind.EFFECT, "a.Block", "writes");
    private static final Finding OPAQUE = new Finding(Finding.Kind.OPAQUE, "a.Block", "locks");

    private final Findings findings = new Findings();

    @Test
    void add_sameFindingTwice_countsOnce() {
        findings.add(EFFECT);
        findings.add(LOOK);
        findings.add(EFFECT);
        assertEquals(List.of(EFFECT, LOOK), findings.all());
        assertFalse(findings.areOpaque());
    }

    @Test
    void ignoringLooks_otherFindings_areAdded() {
        findings.ignoringLooks(
                () -> {
                    findings.add(LOOK);
                    findings.add(OPAQUE);
                });
        assertEquals(List.of(OPAQUE), findings.all());
        assertTrue(findings.areOpaque());
        findings.add(LOOK);
        assertEquals(List.of(OPAQUE, LOOK), findings.all());
    }
}
