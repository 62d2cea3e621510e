package org.djlplan.memplan.djl.purity;

import ai.djl.nn.Block;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.djl.purity.Finding.Kind;

/**
 * The findings about a block's forward pass for inference, from the code of the block, of
 * everything that it references, and of the called methods. Unknown code is a finding, too.
 *
 * <p>It is valid for the objects that the block references when it is analyzed; call {@link #look}
 * again after they were replaced.
 *
 * @param hash of all code that was read; another version of a class has another
 * @param findings what a pass does besides computing
 * @param statics the classes whose static fields the code reads
 * @param classes names of the classes whose code was read
 */
public record BlockCode(
        String hash, List<Finding> findings, Set<Class<?>> statics, Set<String> classes) {

    /** Stands for the code of a block that nobody reads: it is taken for pure, on trust. */
    public static final BlockCode UNREAD =
            new BlockCode("", List.of(), ImmutableSet.of(), ImmutableSet.of());

    public BlockCode {
        findings = ImmutableList.copyOf(findings);
        statics = ImmutableSet.copyOf(statics);
        classes = ImmutableSet.copyOf(classes);
    }

    /** Reads the code of a block. Runs none of it, but may initialize its classes. */
    public static BlockCode look(Block block) {
        return new CodeReader(block).read();
    }

    /** Returns whether a pass leaves nothing behind, so that it may be run twice. */
    public boolean pure() {
        return impurity().isEmpty();
    }

    /** Returns whether a pass is known, rather than trusted, to leave nothing behind. */
    public boolean knownPure() {
        return pure() && !classes.isEmpty();
    }

    /**
     * Returns whether a pass is known to leave nothing behind and runs none of a user's code, so
     * that nobody can tell how often it runs.
     */
    public boolean djlsOwn() {
        return knownPure() && classes.stream().allMatch(name -> name.startsWith("ai.djl."));
    }

    /** Returns the most telling reason why the block is not known to be pure, if it is not. */
    public Optional<Finding> impurity() {
        return first(Kind.OPAQUE).or(() -> first(Kind.EFFECT));
    }

    /**
     * Returns why a pass may do something else although inputs are of the same types and the
     * objects that the block holds are in the same state; empty if it cannot.
     */
    public Optional<Finding> detour() {
        return first(Kind.OPAQUE).or(() -> first(Kind.LOOKS));
    }

    private Optional<Finding> first(Kind kind) {
        return findings.stream().filter(finding -> finding.kind() == kind).findFirst();
    }
}
