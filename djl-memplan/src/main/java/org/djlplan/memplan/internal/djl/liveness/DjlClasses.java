package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.nn.Block;
import java.security.CodeSource;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * DJL's own classes of blocks, whose forward passes for inference have no side effects, so that
 * they may be run twice.
 */
public final class DjlClasses {

    private static final Pattern PACKAGES =
            Pattern.compile("ai\\.djl\\.(nn|basicmodelzoo|modality|ndarray|util)\\..*");

    private static final String ZOO = "ai.djl.basicmodelzoo.";

    /** Whether a class is DJL's; computed once for each class. */
    private static final ClassValue<Boolean> DJLS =
            new ClassValue<>() {
                @Override
                protected Boolean computeValue(Class<?> type) {
                    return PACKAGES.matcher(type.getName()).matches()
                            && comesWith(
                                    type,
                                    type.getName().startsWith(ZOO)
                                            ? ZOO + "BasicModelZoo"
                                            : Block.class.getName());
                }
            };

    private DjlClasses() {}

    /**
     * Returns why a block's forward pass is not known to be free of side effects; empty if all its
     * code is DJL's: the block, its children, and their functions.
     */
    public static Optional<String> foreignCode(Block block) {
        if (!contain(block.getClass())) {
            return Optional.of(foreign(block));
        }
        FirstForeign first = new FirstForeign();
        Optional<String> unseen = ObjectWalk.walk(block, first);
        return first.found.or(() -> unseen);
    }

    private static String foreign(Object object) {
        return ObjectWalk.nameOf(object.getClass()) + " is not one of DJL's own classes";
    }

    /** Finds the first object of another class. */
    private static final class FirstForeign implements ObjectWalk.Visitor {

        private Optional<String> found = Optional.empty();

        @Override
        public Object see(String place, Object value) {
            if (found.isEmpty() && ObjectWalk.isUsers(value)) {
                found = Optional.of(foreign(value));
            }
            return value;
        }
    }

    /**
     * Returns whether a class is in a package of DJL and comes from DJL's library, not only from a
     * package with such a name.
     */
    static boolean contain(Class<?> type) {
        return DJLS.get(type);
    }

    private static boolean comesWith(Class<?> type, String other) {
        try {
            Class<?> library = Class.forName(other, false, type.getClassLoader());
            return type.getClassLoader() == library.getClassLoader()
                    && Objects.equals(source(type), source(library));
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static Object source(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null ? "" : String.valueOf(source.getLocation());
    }
}
