package org.djlplan.memplan.internal.djl.purity;

import java.util.LinkedHashMap;
import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The findings about a block's code, each once, in the order in which they were made. */
final class Findings {

    private final Map<String, Finding> findings = new LinkedHashMap<>();
    private boolean opaque;
    private boolean ignoresLooks;

    /** Adds a finding. */
    void add(Finding finding) {
        if (ignoresLooks && finding.kind() == Finding.Kind.LOOKS) {
            return;
        }
        opaque |= finding.kind() == Finding.Kind.OPAQUE;
        findings.putIfAbsent(finding.className() + finding.kind() + finding.what(), finding);
    }

    /** Runs a step; ignores findings of the kind LOOKS meanwhile. */
    void ignoringLooks(Runnable step) {
        ignoresLooks = true;
        try {
            step.run();
        } finally {
            ignoresLooks = false;
        }
    }

    /** Returns whether some code cannot be analyzed, so that nothing found later counts. */
    boolean areOpaque() {
        return opaque;
    }

    /** Returns all findings. */
    ImmutableList<Finding> all() {
        return ImmutableList.copyOf(findings.values());
    }
}
