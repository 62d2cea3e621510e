package org.djlplan.memplan.internal.djl.purity;

import ai.djl.nn.Block;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.djl.purity.Finding.Kind;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The findings about a block's forward pass for inference, from the code of the block, of
 * everything that it references, and of the called methods. Unknown code is a finding, too.
 *
 * <p>The findings are valid for the objects that the block references during the analysis; call
 * {@link #look} again after objects were replaced.
 *
 * @param hash a hash of all analyzed code; it differs for another version of a class
 * @param findings possible side effects of a pass
 * @param statics the classes whose static fields the code reads
 * @param classes names of the classes whose code was analyzed
 */
public record BlockCode(
        String hash, List<Finding> findings, Set<Class<?>> statics, Set<String> classes) {

    /** The code of a block that is not analyzed, and assumed to be pure. */
    public static final BlockCode UNREAD =
            new BlockCode("", List.of(), ImmutableSet.of(), ImmutableSet.of());

    public BlockCode {
        findings = ImmutableList.copyOf(findings);
        statics = ImmutableSet.copyOf(statics);
        classes = ImmutableSet.copyOf(classes);
    }

    /** Analyzes the code of a block. Runs none of it, but may initialize its classes. */
    public static BlockCode look(Block block) {
        return new CodeReader(block).read();
    }

    /** Returns whether a pass has no side effects, so that it may be run twice. */
    public boolean pure() {
        return impurity().isEmpty();
    }

    /** Returns whether a pass is known, not only assumed, to have no side effects. */
    public boolean knownPure() {
        return pure() && !classes.isEmpty();
    }

    /**
     * Returns whether a pass is known to be pure and runs no user code, so that it may be run any
     * number of times.
     */
    public boolean djlsOwn() {
        return knownPure() && classes.stream().allMatch(name -> name.startsWith("ai.djl."));
    }

    /** Returns the most informative reason why the block is not known to be pure, if it is not. */
    public Optional<Finding> impurity() {
        return first(Kind.OPAQUE).or(() -> first(Kind.EFFECT));
    }

    /**
     * Returns why a pass may do something else although the types of the inputs and the state of
     * the block's objects are the same; empty if it cannot.
     */
    public Optional<Finding> detour() {
        return first(Kind.OPAQUE).or(() -> first(Kind.LOOKS));
    }

    private Optional<Finding> first(Kind kind) {
        return findings.stream().filter(finding -> finding.kind() == kind).findFirst();
    }
}
